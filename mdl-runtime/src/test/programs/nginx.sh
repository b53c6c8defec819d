# nginx: a daemon with four workers, requests, a new configuration while it serves, and a graceful end.
requests=${REQUESTS:-2000}
port=20000
while (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do port=$((port + 1)); done
# configure ANSWER
configure() {
  # The files here may be root's alone.
  cat >nginx.conf <<END
user root root;
worker_processes 4;
pid nginx.pid;
error_log error.log notice;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp; uwsgi_temp_path temp; scgi_temp_path temp;
  server {
    listen 127.0.0.1:$port;
    root site;
    location /page { access_log served.log; }
    location /version { return 200 "$1\n"; }
  }
}
END
}
get() {
  exec 3<>/dev/tcp/127.0.0.1/$port || return
  printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3
  tail -n 1 <&3
  exec 3>&-
}
# await ANSWER: until this configuration is in force
await() { until [ "$(get /version 2>/dev/null)" = "$1" ]; do sleep 0.05; done; }
load() { ab -q -n $requests -c 8 "$@" http://127.0.0.1:$port/page.html | grep -E '^(Complete requests|Failed requests|Non-2xx|Document Length)'; }

mkdir site
for i in {1..200}; do echo "line $i"; done >site/page.html
configure one
nginx -p "$PWD" -e error.log -c nginx.conf
echo started $?
await one
load -k
# New workers take over, and what is being served is served to its end.
load >during &
configure two
nginx -p "$PWD" -e error.log -c nginx.conf -s reload
echo reloaded $?
wait
cat during
await two
server=$(cat nginx.pid)
nginx -p "$PWD" -e error.log -c nginx.conf -s quit
echo quit $?
while kill -0 $server 2>/dev/null; do sleep 0.05; done
echo served $(wc -l <served.log)
grep -c 'start worker process ' error.log
grep -c 'exited with code 0' error.log
grep -cE '\[(error|crit|alert|emerg)\]' error.log
ls
echo end
