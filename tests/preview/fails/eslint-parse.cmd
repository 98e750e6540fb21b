npx eslint --color src
