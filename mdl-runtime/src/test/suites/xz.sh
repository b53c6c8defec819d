# xz: the good, bad and unsupported files of its suite.
for file in "$SOURCES"/tests/files/*; do
  echo "${file##*/}"
  LD_PRELOAD=$AGENT xz -dc "$file" 2>&1 | sha256sum
  echo "status ${PIPESTATUS[0]}"
done
