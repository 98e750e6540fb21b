npx playwright test --reporter=line --workers=1
