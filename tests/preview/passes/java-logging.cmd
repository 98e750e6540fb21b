java -cp out shop.Import
