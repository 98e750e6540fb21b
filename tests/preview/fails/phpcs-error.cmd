phpcs --colors --standard=PSR12 src
