# m4: the examples of its manual.
cp -r "$SOURCES/checks" "$SOURCES/examples" .
printf '#!/bin/sh\nLD_PRELOAD=%s exec /usr/bin/m4 "$@"\n' "$AGENT" >m4
chmod +x m4
cd checks || exit
sh ./check-them -I ../examples -m ../m4 [0-9]* 2>&1 |
  sed -E 's/m4-tmp\.[0-9]+/m4-tmp/; s/\t[0-9]{4}-.*//'
echo "status ${PIPESTATUS[0]}"
