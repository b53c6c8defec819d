# sqlite3: files, pipes, other programs, errors, two processes on one file.
sqlite3 db <<'END'
PRAGMA journal_mode = WAL;
CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, number REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
  INSERT INTO t SELECT i, printf('%x', i * 2654435761 % 4294967296), i / 7.0 FROM n;
CREATE INDEX byWord ON t (word);
SELECT count(*), sum(id), round(sum(number), 3), min(word), max(word) FROM t;
EXPLAIN QUERY PLAN SELECT * FROM t WHERE word = 'a';
BEGIN; DELETE FROM t; ROLLBACK;
.mode json
SELECT * FROM t ORDER BY word LIMIT 3;
.mode csv
.once '|sort -r | head -n 3'
SELECT word FROM t;
.system echo through the shell
.backup copy
PRAGMA integrity_check;
END
echo status $?
sqlite3 copy .dump | sha256sum
echo ${PIPESTATUS[*]}
sqlite3 copy .dump | head -n 2
sqlite3 db 'SELECT nothing'
echo status $?
sqlite3 -bail db 'INSERT INTO t (id) VALUES (1); SELECT 1'
echo status $?
for i in 1 2; do
  for j in {1..20}; do echo "UPDATE t SET number = number + 1 WHERE id <= 100;"; done |
    sqlite3 -cmd '.timeout 60000' db &
done
wait
sqlite3 db 'SELECT round(sum(number), 3) FROM t'
echo end
