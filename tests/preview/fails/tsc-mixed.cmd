npx tsc --noEmit --pretty
