npx jasmine --color --random=false --reporter=reporter.js
