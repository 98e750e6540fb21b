npx oxlint src
