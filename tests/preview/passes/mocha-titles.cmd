npx mocha --color
