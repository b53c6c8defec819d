# tar and gzip in pipes.
mkdir tree out
for i in {1..20}; do seq $i $((i * 1000)) >tree/$i; done
archive() { tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w "$@" tree; }
archive -cf - | gzip -9n | tee tree.gz | gunzip | tar -x -f - -C out
echo ${PIPESTATUS[*]}
diff -r tree out/tree
echo $?
sha256sum <tree.gz
gzip -l <tree.gz | tail -n 1
archive -c -I 'gzip -1n' -f - | sha256sum
tar -tzf tree.gz | sort | md5sum
gunzip -c tree.gz | head -c 1 | wc -c
echo ${PIPESTATUS[*]}
head -c 1000 tree.gz | gunzip >/dev/null
echo ${PIPESTATUS[*]}
seq 10 | gunzip
echo ${PIPESTATUS[*]}
gzip -dc nothing
echo $?
echo end
