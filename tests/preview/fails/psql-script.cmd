psql -h /home/dev/pg -U dev -d postgres -a -f migrate.sql
