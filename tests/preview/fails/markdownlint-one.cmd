npx markdownlint-cli2 "docs/*.md"
