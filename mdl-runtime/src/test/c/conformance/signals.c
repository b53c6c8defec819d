/* Timer signals interrupt probed functions and probes at any instruction; their handlers are probed, too: on the
 * thread's stack, on an alternate one, interrupted by another signal, and left by siglongjmp. */
#include "counted.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#define SIGNALS 300

static volatile sig_atomic_t handled, wrong;
static sigjmp_buf target;

PROBED long triple(long x) {
  COUNTED;
  volatile long kept[6] = {x, x, x, x, x, x};
  return kept[1] + kept[3] + kept[5];
}

PROBED long work(long depth, long x) {
  COUNTED;
  long below = depth == 0 ? triple(x) : work(depth - 1, x);
  OPAQUE(below);
  return below + depth;
}

PROBED void on_user(int signal) {
  COUNTED;
  if (work(2, signal) != 3 * signal + 3) wrong++;
}

PROBED void on_alarm(int signal) {
  COUNTED;
  if (work(6, signal) != 3 * signal + 21) wrong++;
  raise(SIGUSR1);
  handled++;
}

PROBED void on_jump(int signal) {
  COUNTED;
  if (work(3, signal) != 3 * signal + 6) wrong++;
  siglongjmp(target, 1);
}

PROBED void install(int signal, void (*handler)(int), int flags) {
  COUNTED;
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};
  sigaction(signal, &action, NULL);
}

PROBED void be_interrupted(int flags) {
  COUNTED;
  install(SIGALRM, on_alarm, flags);
  install(SIGUSR1, on_user, flags);
  handled = 0;
  struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (long i = 0; handled < SIGNALS; i++) {
    if (work(i % 20, i) != 3 * i + i % 20 * (i % 20 + 1) / 2) wrong++;
  }
  setitimer(ITIMER_REAL, &never, NULL);
}

PROBED void jump_out(int flags) {
  COUNTED;
  install(SIGUSR2, on_jump, flags);
  for (volatile int i = 0; i < 50; i++) {
    if (sigsetjmp(target, 1) == 0) {
      raise(SIGUSR2);
      wrong++;
    }
  }
}

int main(void) {
  COUNTED;
  static char space[64 * 1024];
  stack_t alternate = {.ss_sp = space, .ss_size = sizeof space};
  be_interrupted(0);
  jump_out(0);
  sigaltstack(&alternate, NULL);
  be_interrupted(SA_ONSTACK);
  jump_out(SA_ONSTACK);
  printf("wrong %d\n", wrong);
  return wrong != 0;
}
