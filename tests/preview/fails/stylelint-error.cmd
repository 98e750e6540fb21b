npx stylelint --color "src/*.css"
