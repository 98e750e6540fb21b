npx playwright test --reporter=list --workers=1
