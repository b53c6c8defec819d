# redis-server: some of its units, each with servers of its own.
cp -r "$SOURCES/tests" "$SOURCES/redis.conf" .
mkdir src
for client in redis-cli redis-benchmark redis-check-aof redis-check-rdb; do
  ln -s "$(command -v $client)" src/
done
printf '#!/bin/sh\nLD_PRELOAD=%s exec /usr/bin/redis-server "$@"\n' "$AGENT" >src/redis-server
chmod +x src/redis-server
for unit in type/incr type/hash type/stream scan expire multi scripting geo bitfield acl pubsub protocol; do
  echo $unit
  tclsh8.6 tests/test_helper.tcl --clients 1 --single unit/$unit 2>&1 |
    grep -aE '^(.\[[0-9;]*m)*\[(ok|err|exception|skip|ignore|timeout)' | sed -E 's/ \([0-9]+ ms\)$//'
  echo "status ${PIPESTATUS[0]}"
done
