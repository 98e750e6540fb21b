npx jest --verbose --color
