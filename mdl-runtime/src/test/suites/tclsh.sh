# tclsh: all of Tcl's tests, in one process.
cp -r "$SOURCES/tests" "$SOURCES/library" .
cd tests || exit
LD_PRELOAD=$AGENT tclsh8.6 all.tcl -singleproc 1 -verbose 'body pass skip start error' 2>&1 |
  sed '/^Tests \(began\|ended\) at/d'
echo "status ${PIPESTATUS[0]}"
