go test ./... -v
