vitest run --reporter=verbose
