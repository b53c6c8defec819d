#include "process/older_threads.h"

#include "os/agent_threads.h"
#include "os/next.h"
#include "os/signal_block.h"
#include "os/sys.h"
#include "os/tasks.h"
#include "process/actions.h"
#include "process/trap_bit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

enum {
  LOOKS = 100, /* retries: the injector unblocks the signals meanwhile (mdl_adopt), and libc blocks all for some microseconds
                 when it creates a thread */
  BETWEEN_LOOKS_NANOS = 10000000,
  TEXT_MAX = 4096,
  ARGUMENTS = 6,
};

static void read_task(int thread, const char *name, char *text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
  read_text(path, text, capacity);
}

static bool blocks_traps(int thread) {
  static const char heading[] = "\nSigBlk:";
  char text[TEXT_MAX];
  read_task(thread, "status", text, sizeof text);
  const char *mask = strstr(text, heading);
  return mask && strtoull(mask + sizeof heading - 1, NULL, 16) & TRAPS;
}

/* Whether the thread waits with a temporary mask. */
static bool waits_with_mask(int thread) {
  char text[TEXT_MAX];
  unsigned long long number, argument[ARGUMENTS];
  read_task(thread, "syscall", text, sizeof text);
  if (sscanf(text, "%llu %llx %llx %llx %llx %llx %llx", &number, &argument[0], &argument[1], &argument[2], &argument[3],
             &argument[4], &argument[5]) != 1 + ARGUMENTS) {
    return strncmp(text, "running", 7) != 0; /* unknown, or the thread has ended, which the next look shows */
  }
  switch (number) {
    case SYS_rt_sigsuspend: return true;
    case SYS_ppoll: return argument[3] != 0;
    case SYS_pselect6: return argument[5] != 0;
    case SYS_epoll_pwait: return argument[4] != 0;
    case SYS_epoll_pwait2: return argument[4] != 0;
    default: return false;
  }
}

static bool handlers_block_traps(void) {
  for (int signal = 1; signal < SIGNALS; signal++) {
    struct sigaction action;
    if (next()->sigaction(signal, NULL, &action) == 0 && has_handler(&action) && mask_word(&action.sa_mask) & TRAPS) {
      return true;
    }
  }
  return false;
}

static bool look_for_block(pid_t process, pid_t thread, void *result) {
  (void)process;
  bool *some = result;
  *some = !agent_threads_have_running(thread) && (blocks_traps(thread) || waits_with_mask(thread));
  return !*some;
}

static bool threads_block_traps(void) {
  bool some = false;
  return tasks_each(0, look_for_block, &some) != 0 || some;
}

bool older_threads_may_trap(void) {
  for (int i = 0; i < LOOKS; i++) {
    nanosleep(&(struct timespec){.tv_nsec = BETWEEN_LOOKS_NANOS}, NULL); /* also before the first look: calls of libc's
                                                                            functions end */
    if (!threads_block_traps()) {
      return !handlers_block_traps();
    }
  }
  return false;
}
