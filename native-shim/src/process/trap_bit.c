#include "process/trap_bit.h"

#include "os/self.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

THREAD_LOCAL bool trap_blocked;

/* A SIGTRAP that has been sent, as much as tells its receiver. */
struct sent {
  int code;
  pid_t pid;
  uid_t uid;
  union sigval value;
};

/* One for a thread and one for the process, as for any signal that is not a real-time one: further ones are lost. */
enum { NO_SIGNAL, BEING_COPIED, WAITS };
struct waiting_signal {
  _Atomic int state;
  struct sent sent;
};
static THREAD_LOCAL struct waiting_signal for_thread;
static struct waiting_signal for_process;

static void put(struct waiting_signal *place, const siginfo_t *info) {
  int state = NO_SIGNAL;
  if (atomic_compare_exchange_strong(&place->state, &state, BEING_COPIED)) {
    place->sent = (struct sent){info->si_code, info->si_pid, info->si_uid, info->si_value};
    atomic_store(&place->state, WAITS);
  }
}

static bool take(struct waiting_signal *place, siginfo_t *info) {
  int state = WAITS;
  if (!atomic_compare_exchange_strong(&place->state, &state, BEING_COPIED)) {
    return false;
  }
  memset(info, 0, sizeof *info);
  info->si_signo = SIGTRAP;
  info->si_code = place->sent.code;
  info->si_pid = place->sent.pid;
  info->si_uid = place->sent.uid;
  info->si_value = place->sent.value;
  atomic_store(&place->state, NO_SIGNAL);
  return true;
}

bool trap_take(siginfo_t *info) { return take(&for_thread, info) || take(&for_process, info); }

bool trap_waits(void) {
  return !is_agent_thread && (atomic_load_explicit(&for_thread.state, memory_order_relaxed) == WAITS ||
                              atomic_load_explicit(&for_process.state, memory_order_relaxed) == WAITS);
}

void trap_queue_to_self(siginfo_t *info) {
  int error = errno;
  raw_syscall(SYS_rt_tgsigqueueinfo, getpid(), raw_syscall(SYS_gettid), SIGTRAP, info);
  errno = error;
}

void trap_deliver(void) {
  siginfo_t info;
  if (trap_waits() && trap_take(&info)) {
    trap_queue_to_self(&info);
  }
}

void trap_hold_back(const siginfo_t *info) { put(info->si_code == SI_TKILL ? &for_thread : &for_process, info); }

void trap_forked(void) {
  atomic_store(&for_thread.state, NO_SIGNAL);
  atomic_store(&for_process.state, NO_SIGNAL);
}
