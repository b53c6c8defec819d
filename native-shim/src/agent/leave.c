#include "agent/leave.h"

#include "agent/control.h"
#include "code/death.h"
#include "os/next.h"
#include "os/own_memory.h"
#include "session/memory.h"
#include "session/session.h"

#include <pthread.h>
#include <stddef.h>

bool (*leave_remove_agent)(const char *what);

enum { STACK_BYTES = 256 << 10 };

/* Not one of the agent's threads, which it removes. It has their signal mask, so the program's signals do not interrupt it. */
static void *leave(void *unused) {
  control_await_answer();
  agent_died("mdl detach --for-good", NULL);
  if (leave_remove_agent("mdl detach --for-good")) {
    own_memory_discard_jvm();
    session_left();
  }
  return unused;
}

int64_t agent_leave_for_good(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int error = next()->pthread_create(&thread, &attributes, leave, NULL);
  pthread_attr_destroy(&attributes);
  return -error;
}
