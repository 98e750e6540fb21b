node --test test/*.test.js
