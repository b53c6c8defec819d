/* A process and its child. Each byte of standard input makes the child call work() 1000 times and print "stepped"; at the end of the
 * input it exits. "child PID" is its first line. The first process ends when the child has, or by SIGTERM, both with status 0. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;
__attribute__((noinline)) void work(long x) { sink += x; }

__attribute__((no_instrument_function)) static void on_signal(int number) { (void)number; }

__attribute__((no_instrument_function)) static void child(void) {
  char byte;
  printf("child %d\n", getpid());
  fflush(stdout);
  while (read(0, &byte, 1) == 1) {
    for (int i = 0; i < 1000; i++) work(i);
    puts("stepped");
    fflush(stdout);
  }
  exit(0);
}

__attribute__((no_instrument_function)) int main(void) {
  if (fork() == 0) child();
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
  wait(NULL);
  return 0;
}
