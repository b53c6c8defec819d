# PostgreSQL: its regression tests against a server of its own, one after the other.
# It refuses to be root; this is nobody, who owns what root has here.
[ "$(id -u)" != 0 ] || exec unshare --user --map-user=65534 --map-group=65534 bash "$0"
export PGHOST=$PWD PGUSER=postgres
bin=/usr/lib/postgresql/15/bin
gcc -O2 -w -shared -fPIC -I "$(pg_config --includedir-server)" -o regress.so \
  "$SOURCES/src/test/regress/regress.c" || exit
$bin/initdb -D data -A trust -U postgres --no-locale --no-sync >initdb.log || exit
LD_PRELOAD=$AGENT $bin/postgres -D data -k "$PWD" -c listen_addresses= -c fsync=off >server.log 2>&1 &
server=$!
until $bin/pg_isready -q; do sleep 0.1; done
/usr/lib/postgresql/15/lib/pgxs/src/test/regress/pg_regress --bindir=$bin --dlpath=. --host="$PWD" --no-locale \
  --inputdir="$SOURCES/src/test/regress" --outputdir=. --max-connections=1 \
  --schedule="$SOURCES/src/test/regress/parallel_schedule" 2>&1 | sed -E 's/ +[0-9]+ ms$//'
echo "status ${PIPESTATUS[0]}"
[ ! -f regression.diffs ] || sed -E 's/\t[0-9]{4}-.*//' regression.diffs
kill -INT $server
wait $server
echo "status $?"
