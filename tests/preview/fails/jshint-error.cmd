npx jshint src
