#!/usr/bin/env bash
# Each program of app.c must end and print with the agent as it does without, whatever the JVM does and whenever.
# Usage: transparency.sh APP STAGE [PROGRAM...]   STAGE holds lib/libmdlagent.so and runtime/lib/server/libjvm.so
#        transparency.sh --pipes APP STAGE        whether pipes are closed that a program closes, mostly
set -u
pipes=
[ "$1" != --pipes ] || { pipes=1 && shift; }
app=$(realpath "$1") stage=$(realpath "$2")
shift 2
[ -x "$app" ] && [ -r "$stage/lib/libmdlagent.so" ] && [ -r "$stage/runtime/lib/server/libjvm.so" ] || exit 2
programs=("$@")
[ ${#programs[@]} -gt 0 ] || mapfile -t programs < <("$app")
ulimit -c 0
scratch=$(mktemp -d)
trap 'forget; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
export JAVA_TOOL_OPTIONS=-Xcomp XDG_STATE_HOME="$scratch/state"
unset MDL_OPTIONS MDL_CONFIG

# forget: the sessions so far, with what their links lead to
forget() {
  [ -e "$scratch/state" ] || return 0
  find "$scratch/state" -name session.mdl -type l -exec readlink -z {} + | xargs -0r rm -f
  rm -rf "$scratch/state"
}

# run OUTPUT COMMAND...: its status, standard output and standard error
run() {
  local to=$1
  shift
  { timeout -k 60 300 "$@" >"$to.out" 2>"$to.err" </dev/null; } 2>/dev/null
  echo "status $?" >>"$to.out"
}

failures=0 runs=0
# check PROGRAM FAKE_JVM MDL_OPTIONS
check() {
  local name="$1 with FAKE_JVM=$2 MDL_OPTIONS=$3"
  run with env LD_PRELOAD="$stage/lib/libmdlagent.so" FAKE_JVM="$2" MDL_OPTIONS="$3" "$app" "$1"
  runs=$((runs + 1))
  if ! cmp -s without.out with.out || ! cmp -s without.err with.err; then
    echo "FAILED $name"
    diff without.out with.out
    diff without.err with.err
    failures=$((failures + 1))
  fi
  if grep -rhs FAKE: state; then
    echo "FAILED $name: see above"
    failures=$((failures + 1))
  fi
  forget
}

# log PROGRAM FAKE_JVM TEXT: the session's log has a line with TEXT
log() {
  run with env LD_PRELOAD="$stage/lib/libmdlagent.so" FAKE_JVM="$2" MDL_OPTIONS=wait "$app" "$1"
  runs=$((runs + 1))
  if ! grep -rqs -e "$3" state; then
    echo "FAILED no line with '$3' in the log with FAKE_JVM=$2:"
    cat state/mdl/sessions/*/agent.log
    failures=$((failures + 1))
  fi
  forget
}

# session DIRECTORY: state and exit status, as the session file has them
session() {
  od -A n -t d4 -j 52 -N 4 "$1/session.mdl"
  od -A n -t d4 -j 96 -N 4 "$1/session.mdl"
}

# ended PROGRAM STATE STATUS: what is recorded of its end
ended() {
  run with env LD_PRELOAD="$stage/lib/libmdlagent.so" FAKE_JVM= MDL_OPTIONS=wait,session=state "$app" "$1"
  runs=$((runs + 1))
  local seen
  seen=$(session state | xargs)
  if [ "$seen" != "$2 $3" ]; then
    echo "FAILED state and status of $1 are $seen, expected $2 $3"
    failures=$((failures + 1))
  fi
  forget
}

# What the program closes is closed, also while the agent gets descriptors of its own. Whoever looks into /proc/PID/fd holds
# them for a moment, too, with the agent or without: about once in 1,000 runs. The agent's copies did in 300.
if [ "$pipes" ]; then
  held=0
  for _ in {1..100}; do
    run with env LD_PRELOAD="$stage/lib/libmdlagent.so" FAKE_JVM=worst MDL_OPTIONS=startDelayMillis=0 "${app%/*}/breaks_pipes"
    [ "$(xargs <with.out)" = 'status 0' ] || held=$((held + 1))
    forget
  done
  echo "the agent holds pipes that the program has closed: in $held runs of 100"
  [ $held -le 10 ]
  exit
fi

for program in "${programs[@]}"; do
  run without "$app" "$program"
  check "$program" worst wait
  check "$program" worst startDelayMillis=0
  check "$program" worst startDelayMillis=2
  check "$program" "" startDelayMillis=50
  check "$program" worst,abort wait
done
run without "$app" exits
for behaviour in exit _exit abort exit-hook abort-hook error no-class return throw late-exit; do
  for timing in wait startDelayMillis=0; do
    check exits "$behaviour" "$timing"
  done
done
log exits exit 'the JVM called exit'
log exits _exit 'the JVM called _exit'
log exits abort 'the JVM called abort'
log exits exit-hook 'the JVM has failed'
log exits abort-hook 'the JVM aborts'
log exits error 'the JVM cannot be created: -4'
log exits no-class 'the runtime image has no org.mdlagent.arch.shim.NativeApi.call: java.lang.Ill'
log exits return 'Agent.start has ended'
log exits throw 'Agent.start has ended: java.lang.IllegalStateException: a test'
log exits worst 'JVM: a message of the JVM'

armed=1 over=2 dead=3
ended returns $over 3
ended exits $over 7
ended ends_at_once $over 5
ended ends_quickly $over 6
ended exits_in_thread $over 11
ended main_leaves_workers $over 0
ended segv $armed -1
ended aborts $armed -1
ended forks_and_exits $over 0
ended vforks_and_executes $over 0

# A parent that ends before the delay leaves the agent to its child.
run with env LD_PRELOAD="$stage/lib/libmdlagent.so" MDL_OPTIONS=startDelayMillis=20 "$app" child_outlives_parent
for _ in {1..3000}; do
  [ "$(session state/mdl/sessions/app-* 2>/dev/null | xargs)" != "$over 12" ] || break
  sleep 0.1
done
if [ "$(echo state/mdl/sessions/app-*)" = 'state/mdl/sessions/app-*' ] ||
  [ "$(session state/mdl/sessions/app-* | xargs)" != "$over 12" ]; then
  echo "FAILED the child of a parent that has ended has no session of its own"
  failures=$((failures + 1))
fi
forget

# A JVM that shows no sign of life for 5 s.
mkfifo input
env LD_PRELOAD="$stage/lib/libmdlagent.so" FAKE_JVM=stuck MDL_OPTIONS=wait,session=state cat <input &
exec 7>input
for _ in {1..3000}; do
  ! grep -qs 'the JVM is stuck or gone: no sign of life for 5 s' state/agent.log || break
  sleep 0.1
done
exec 7>&-
wait $!
status=$?
runs=$((runs + 1))
if [ "$status $(session state | xargs)" != "0 $dead 0" ] ||
  ! grep -qs 'the JVM is stuck or gone: no sign of life for 5 s' state/agent.log; then
  echo "FAILED nobody notices that the JVM is stuck"
  failures=$((failures + 1))
fi
forget

# Limits of the address space leave no room for a JVM.
for kilobytes in 100000 300000; do
  ulimit -S -v $kilobytes
  run without "$app" exits
  check exits worst wait
  log exits worst 'leaves no room for a JVM'
  ulimit -S -v unlimited
done

# A relative path, and the program is not where it started.
cp -r "$stage" here
real=$stage stage=here
run without "$app" shows_state
check shows_state worst wait
stage=$real

mkdir -p empty/lib
cp "$stage/lib/libmdlagent.so" empty/lib
stage=$PWD/empty
run without "$app" exits
check exits "" wait
log exits "" 'there is no JVM'

echo "$runs runs, $failures failures"
[ $failures -eq 0 ]
