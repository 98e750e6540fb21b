npx webpack --mode production --progress --stats verbose
