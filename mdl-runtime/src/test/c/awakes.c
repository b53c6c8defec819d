/*
 * A server that waits at first, and is asked much then: 512 functions are called three times, and after a second as often as
 * there is time for. Prints each one's name and calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define ALL_OF(X, n) EIGHT(X, n##0) EIGHT(X, n##1) EIGHT(X, n##2) EIGHT(X, n##3) EIGHT(X, n##4) EIGHT(X, n##5) EIGHT(X, n##6) EIGHT(X, n##7)
#define ALL(X) ALL_OF(X, 0) ALL_OF(X, 1) ALL_OF(X, 2) ALL_OF(X, 3) ALL_OF(X, 4) ALL_OF(X, 5) ALL_OF(X, 6) ALL_OF(X, 7)

static volatile unsigned sink;

#define DEFINE(n)                                                                                                      \
  static unsigned long calls_##n;                                                                                      \
  __attribute__((noinline)) static void f_##n(void) {                                                                  \
    calls_##n++;                                                                                                       \
    for (unsigned i = 0; i < 50; i++) {                                                                                \
      sink += i;                                                                                                       \
    }                                                                                                                  \
  }
ALL(DEFINE)

__attribute__((no_instrument_function)) static void call_all(void) {
#define CALL(n) f_##n();
  ALL(CALL)
}

int main(int count, char **arguments) {
  double seconds = count > 1 ? atof(arguments[1]) : 1;
  struct timespec begin, now;
  for (int i = 0; i < 3; i++) {
    call_all();
  }
  sleep(1);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (int i = 0; i < 100; i++) {
      call_all();
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) < seconds);
#define PRINT(n) printf("f_" #n " %lu\n", calls_##n);
  ALL(PRINT)
  return 0;
}
