npm run ci
