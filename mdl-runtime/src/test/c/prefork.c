/* A server without clients: WORKERS processes that the first one forks call work() as often as their number says. Each prints its process
 * id and its calls of every function, for comparison with the report, and ends as the argument says: "exit", "killed",
 * or "exec": it executes this program again, as "once". With "input" it serves until the input of the first one ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4
#define NO_PROBES __attribute__((no_instrument_function))

static volatile long sink;
static volatile int *over; /* in all processes */
__attribute__((noinline)) void leaf(long x) { sink += x; }
__attribute__((noinline)) void work(long x) {
  leaf(x);
  leaf(x + 1);
}
__attribute__((noinline)) void serve(int number) {
  for (long i = 0; i < 1000 * number; i++) work(i);
}

NO_PROBES static void once(void) {
  work(1);
  printf("%d serve 0\n%d work 1\n%d leaf 2\n", getpid(), getpid(), getpid());
}

NO_PROBES static void child(int number, char **argv) {
  long times = 0;
  do {
    serve(number);
    times++;
  } while (!*over);
  long calls = 1000 * number * times;
  printf("%d serve %ld\n%d work %ld\n%d leaf %ld\n", getpid(), times, getpid(), calls, getpid(), 2 * calls);
  fflush(stdout);
  if (strcmp(argv[1], "killed") == 0) kill(getpid(), SIGKILL);
  if (strcmp(argv[1], "exec") == 0) execl(argv[0], argv[0], "once", NULL);
  exit(number);
}

NO_PROBES int main(int argc, char **argv) {
  pid_t workers[WORKERS];
  if (argc < 2) return 2;
  if (strcmp(argv[1], "once") == 0) {
    once();
    return 0;
  }
  int until_input_ends = strcmp(argv[1], "input") == 0;
  over = mmap(NULL, sizeof *over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *over = !until_input_ends;
  for (int i = 0; i < WORKERS; i++) {
    workers[i] = fork();
    if (workers[i] == 0) child(i + 1, argv);
  }
  while (until_input_ends && getchar() != EOF) continue;
  *over = 1;
  for (int i = 0; i < WORKERS; i++) waitpid(workers[i], NULL, 0);
  once();
  return 0;
}
