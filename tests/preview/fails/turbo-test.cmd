npx turbo run test --continue --concurrency=1
