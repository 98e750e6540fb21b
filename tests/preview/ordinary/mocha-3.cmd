mocha test
