# gawk: each program of its suite that has an expected output.
cp -r "$SOURCES/test" .
cd test || exit
for expected in *.ok; do
  test=${expected%.ok}
  # Without their input the former print for ever; the latter prints what it is as a process.
  case $test in profile* | pid) continue ;; esac
  [ -f "$test.awk" ] || continue
  input=/dev/null
  [ ! -f "$test.in" ] || input=$test.in
  echo "$test"
  AWKPATH=. timeout -k 5 60 env LD_PRELOAD="$AGENT" gawk -f "$test.awk" <"$input" >"$test.out" 2>&1
  echo "status $?" >>"$test.out"
  cat "$test.out"
done
