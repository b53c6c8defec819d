# redis-server: requests, a snapshot by a forked child, a rewritten log, SIGTERM, and all is there at the next start.
start() {
  redis-server --port 0 --unixsocket socket --save '' --dbfilename dump --logfile "$1" --enable-debug-command yes \
    --crash-memcheck-enabled no &
  server=$!
  until [ "$(redis-cli -s socket ping 2>/dev/null)" = PONG ]; do sleep 0.05; done
}
cli() { redis-cli -s socket "$@"; }
# await WHAT FIELD: until nothing of the kind goes on
await() {
  until cli info persistence | grep -q "^$1:0"; do sleep 0.05; done
}

start first
redis-benchmark -s socket -n 20000 -c 20 -P 4 --threads 2 --csv -t ping_mbulk,set,get,incr,lpush,lpop,sadd,hset,zadd,lrange_100 |
  cut -d , -f 1
cli info commandstats | grep -E '_(ping|set|get|incr|lpush|lpop|sadd|hset|zadd|lrange):' | cut -d , -f 1 | sort
for i in {1..20}; do echo "debug populate $((i * 500)) key$i 100"; done | cli | sort | uniq -c
cli bgsave
await rdb_bgsave_in_progress
cli info persistence | grep rdb_last_bgsave_status
cli config set appendonly yes
await aof_rewrite_in_progress
cli info persistence | grep aof_last_bgrewrite_status
redis-check-rdb dump | grep -E 'keys read|\\o/'
before=$(cli debug digest)
cli dbsize
kill -TERM $server
wait $server
echo status $?

start second
[ "$(cli debug digest)" != "$before" ] || echo the same keys
cli config set save '' appendonly no
cli dbsize
cli debug segfault
wait $server
echo status $?
for log in first second; do
  echo $log
  sed -n '/ REDIS BUG REPORT START/q; p' $log
done
echo end
