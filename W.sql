-- A shop's day: 620,000 rows inserted, then look-ups by index, joins and updates. The output is the same on every run.
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;

CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, article INTEGER NOT NULL, cents INTEGER NOT NULL);

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO customer SELECT i, printf('customer %05d', i * 7919 % 20000), printf('city %03d', i * 31 % 400) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600000)
INSERT INTO purchase SELECT i, i * 48271 % 20000 + 1, i * 16807 % 5000, i * 69621 % 100000 FROM n;
COMMIT;

CREATE INDEX purchase_customer ON purchase (customer);
CREATE INDEX purchase_article ON purchase (article, cents);
CREATE INDEX customer_city ON customer (city);
ANALYZE;

SELECT 'rows', count(*) FROM purchase;
SELECT 'turnover', sum(cents) FROM purchase;

-- One look-up by index for each of 150,000 keys.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
SELECT 'look-ups', sum((SELECT max(cents) FROM purchase WHERE article = i * 13 % 5000)) FROM n;

SELECT 'joins', count(*), sum(p.cents)
FROM customer c JOIN purchase p ON p.customer = c.id
WHERE c.city BETWEEN 'city 100' AND 'city 299';

SELECT c.city, count(*) AS purchases, sum(p.cents) AS cents
FROM customer c JOIN purchase p ON p.customer = c.id
GROUP BY c.city ORDER BY cents DESC, c.city LIMIT 5;

UPDATE purchase SET cents = cents + 1 WHERE article < 500;
DELETE FROM purchase WHERE id % 11 = 0;
SELECT 'left', count(*), sum(cents) FROM purchase;

SELECT 'names', count(DISTINCT substr(name, 10, 3)), max(length(upper(name))) FROM customer WHERE name LIKE '%7%';
PRAGMA integrity_check;
