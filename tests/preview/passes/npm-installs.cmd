npm install --no-audit --no-fund --loglevel=http
