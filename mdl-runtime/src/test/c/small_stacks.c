/* Prints how many bytes of a thread's stack its first call of a function takes: in the thread, and in a handler on another stack. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#define NO_PROBES __attribute__((no_instrument_function, noinline, patchable_function_entry(0)))
enum { THREADS = 8, BYTES = 1 << 17, PAINT = 0x5A, RED_ZONE = 128 };

static volatile int sink;
__attribute__((noinline)) void work(int x) { sink += x; }

static char *stack, *other;
static long used;

NO_PROBES static void measure(volatile char *low) {
  register char *pointer __asm__("rsp");
  volatile char *top = pointer - RED_ZONE, *at;
  for (at = low; at < top; at++) {
    *at = PAINT;
  }
  work(1);
  for (at = low; at < top && *at == PAINT; at++) {
  }
  if (pointer - at > used) {
    used = pointer - at;
  }
}

NO_PROBES static void *in_thread(void *unused) {
  measure(stack);
  return unused;
}

NO_PROBES static void handler(int signal) { measure(other); }

NO_PROBES static void *in_handler(void *unused) {
  stack_t alternate = {.ss_sp = other, .ss_size = BYTES};
  sigaltstack(&alternate, NULL);
  pthread_kill(pthread_self(), SIGUSR1);
  return unused;
}

NO_PROBES static char *map(void) { return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

NO_PROBES static void run(const char *where, void *(*routine)(void *)) {
  used = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, BYTES);
    pthread_create(&thread, &attributes, routine, NULL);
    pthread_join(thread, NULL);
  }
  printf("%s %ld\n", where, used);
}

NO_PROBES int main(void) {
  stack = map();
  other = map();
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  run("thread", in_thread);
  run("handler", in_handler);
  return 0;
}
