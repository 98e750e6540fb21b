npx ava
