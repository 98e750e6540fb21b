npx prettier --check src
