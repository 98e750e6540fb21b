bash migrate.sh
