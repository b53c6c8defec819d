/* A master that executes itself once it has forked its worker, and then waits for it, as haproxy's does. */
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;
__attribute__((noinline)) void work(long x) { sink += x; }

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
  (void)argv;
  work(1);
  if (argc > 1) return wait(NULL) < 0;
  if (fork() == 0) {
    for (int i = 0; i < 1000; i++) {
      work(1);
      usleep(1000);
    }
    return 0;
  }
  execl("/proc/self/exe", "master", "again", (char *)NULL);
  return 1;
}
