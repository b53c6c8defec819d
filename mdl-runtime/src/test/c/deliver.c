/* Threads that deliver things with tags: for each line of stdin, as many threads, of which each delivers each tag as often as the
 * tag's last digit says, and once more. */
#include <pthread.h>
#include <stdio.h>

static int tags;

__attribute__((noinline)) long deliver(long what, long tag) {
  __asm__ volatile("");
  return what + tag;
}

static void *run(void *unused) {
  long sum = 0;
  for (int tag = 1; tag <= tags; tag++) {
    for (int i = 0; i <= tag % 10; i++) {
      sum += deliver(i, 7L * tag);
    }
  }
  return (void *)(sum == 42);
}

int main(void) {
  int threads;
  puts("ready");
  fflush(stdout);
  while (scanf("%d %d", &threads, &tags) == 2) {
    pthread_t all[64];
    for (int i = 0; i < threads; i++) {
      pthread_create(&all[i], NULL, run, NULL);
    }
    for (int i = 0; i < threads; i++) {
      pthread_join(all[i], NULL);
    }
    puts("done");
    fflush(stdout);
  }
  return 0;
}
