pnpm -r --no-bail --workspace-concurrency=1 test
