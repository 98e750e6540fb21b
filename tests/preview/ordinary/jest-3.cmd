jest --verbose
