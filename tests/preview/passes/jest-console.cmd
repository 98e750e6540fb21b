npx jest --color
