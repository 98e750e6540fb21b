npx webpack
