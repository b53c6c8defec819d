# PostgreSQL: a new cluster, clients, a server process that is killed, recovery, and a fast shutdown.
# It refuses to be root; this is nobody, who owns what root has here.
[ "$(id -u)" != 0 ] || exec unshare --user --map-user=65534 --map-group=65534 bash "$0"
transactions=${REQUESTS:-2000}
export PATH=/usr/lib/postgresql/15/bin:$PATH PGHOST=$PWD PGUSER=test PGDATABASE=postgres
sql() { psql -X -A -t -c "$1"; }
# start LOG
start() { pg_ctl -D data -l "$1" -w start -o "-k $PWD -c listen_addresses= -c fsync=off" >/dev/null; }

initdb -D data -A trust -U test --no-sync >/dev/null
echo made $?
start first
echo started $?
pgbench -i -q -s 2 >/dev/null 2>&1
echo filled $?
pgbench -n -c 4 -j 2 -t $((transactions / 4)) | grep -E 'actually processed|failed'
sql 'select (select sum(abalance) from pgbench_accounts) = sum(delta), count(*) from pgbench_history'
sql "set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
  select count(*), max(aid) from pgbench_accounts"

# The server ends all others, and recovers.
mkfifo statements
psql -X -A -t <statements >victim 2>/dev/null &
exec 4>statements
echo 'select pg_backend_pid();' >&4
until [ -s victim ]; do sleep 0.05; done
kill -KILL "$(cat victim)"
exec 4>&-
wait
until grep -q reinitializing first && [ "$(sql 'select 1' 2>/dev/null)" = 1 ]; do sleep 0.1; done
sql 'select count(*) from pgbench_history'
sql 'select * from no_such_table'
pg_ctl -D data -m fast -w stop >/dev/null
echo stopped $?

start second
sql 'select count(*) from pgbench_history'
pg_ctl -D data -m fast -w stop >/dev/null
echo stopped $?
for log in first second; do
  echo $log
  sed -E 's/^[-0-9]+ [:.0-9]+ [A-Z]+ \[[0-9]+\] //; s/PID [0-9]+/PID/' $log | grep -E '^(PANIC|ERROR|LOG: +(server process|database system is|all server))'
done
echo end
