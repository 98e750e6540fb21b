npm test --workspaces
