# make -j2 with gcc.
for i in {1..6}; do
  printf '#include <math.h>\n#include "all.h"\ndouble f%d(double x) { for (int i = 0; i < %d; i++) x += sin(x) * i; return x; }\n' \
    $i $i >f$i.c
  echo "double f$i(double);"
done >all.h
cat >main.c <<'END'
#include <stdio.h>
#include "all.h"
int main(void) { printf("%.9f\n", f1(f2(f3(f4(f5(f6(1))))))); return 42; }
END
cat >Makefile <<'END'
CFLAGS = -O2 -Wall
objects = main.o f1.o f2.o f3.o f4.o f5.o f6.o
program: $(objects)
	gcc -o $@ $^ -lm
$(objects): all.h
wrong: wrong.c
	gcc -c wrong.c
kill:
	kill -TERM $$$$
END
make -j2 CC=gcc >lines
echo $?
sort lines
sha256sum *.o program
./program
echo $?
make -q && echo up to date
touch all.h
make -j2 CC=gcc | wc -l
echo 'int main(void) { return nothing; }' >wrong.c
make wrong
echo $?
make kill
echo $?
gcc -O2 -pipe -save-temps -c f1.c && sha256sum f1.s
gcc -x c - -o nowhere/program <main.c
echo $?
echo end
