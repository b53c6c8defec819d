/* Threads that call the same functions. */
#include "counted.h"

#include <pthread.h>

PROBED unsigned long scramble(unsigned long x) {
  COUNTED;
  return x * 1103515245 + 12345;
}
PROBED void *walk(void *start) {
  COUNTED;
  unsigned long x = (unsigned long)start;
  for (int i = 0; i < 20000; i++) x = scramble(x);
  return (void *)x;
}

PROBED int main(void) {
  COUNTED;
  pthread_t threads[4];
  for (long t = 0; t < 4; t++) pthread_create(&threads[t], NULL, walk, (void *)t);
  for (int t = 0; t < 4; t++) {
    void *result;
    pthread_join(threads[t], &result);
    printf("%lx\n", (long)result);
  }
  return 0;
}
