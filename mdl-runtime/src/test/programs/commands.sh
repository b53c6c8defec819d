# Fifty commands, none of them a builtin one.
for i in {1..10}; do
  cat </dev/null
  expr $i \* $i
  basename /a/b/$i .c
  echo "$i" | tr 0-9 a-j
  /bin/echo $i
done
echo end
