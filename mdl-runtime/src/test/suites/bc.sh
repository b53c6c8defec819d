# bc: its mathematical functions, and loops.
cd "$SOURCES/Test" || exit
for test in *.b; do
  echo "$test"
  LD_PRELOAD=$AGENT bc -l "$test" 2>&1
  echo "status $?"
done
