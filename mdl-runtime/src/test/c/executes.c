/* A server with a master: forks a worker after the given number of milliseconds, prints the worker's id, and executes itself. Both
 * work until the given file exists; the worker exits with 3. With `c`, two threads of the worker confine themselves. With `w`, the
 * master waits for the worker's first call before it executes itself. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PROBES __attribute__((no_instrument_function))

static volatile long sink;
__attribute__((noinline)) void work(long x) { sink += x; }
__attribute__((noinline)) void wait_for(long x) { sink -= x; }

static const char *end;

NO_PROBES static void until_end(void (*call)(long)) {
  while (access(end, F_OK) != 0) {
    call(1);
    usleep(1000);
  }
}

NO_PROBES static void *confine(void *unused) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    perror("prctl");
    exit(1);
  }
  return unused;
}

/* executes END MILLIS[c|w], and then executes END WORKER master */
NO_PROBES int main(int argc, char **argv) {
  end = argv[1];
  if (argc > 3) {
    int status;
    until_end(wait_for);
    waitpid(atoi(argv[2]), &status, 0);
    return WEXITSTATUS(status);
  }
  usleep(1000 * atoi(argv[2]));
  int called[2];
  if (pipe(called) != 0) {
    perror("pipe");
    return 1;
  }
  pid_t worker = fork();
  if (worker == 0) {
    if (strchr(argv[2], 'c')) {
      pthread_t thread;
      pthread_create(&thread, NULL, confine, NULL);
      confine(NULL);
      pthread_join(thread, NULL);
    }
    work(1);
    close(called[1]);
    until_end(work);
    return 3;
  }
  close(called[1]);
  if (strchr(argv[2], 'w')) {
    char unused;
    (void)!read(called[0], &unused, 1);
  }
  close(called[0]);
  char id[16];
  sprintf(id, "%d", worker);
  puts(id);
  fflush(stdout);
  char *arguments[] = {argv[0], argv[1], id, "master", NULL};
  execv("/no/such/program", arguments);
  execv("/proc/self/exe", arguments);
  return 1;
}
