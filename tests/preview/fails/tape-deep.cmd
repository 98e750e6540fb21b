npx tape "test/*.js"
