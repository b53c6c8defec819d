#include "process/trap_bit.h"

#include "os/self.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

THREAD_LOCAL uint64_t traps_blocked;

/* A pending signal: the fields that its receiver sees. */
struct sent {
  int code;
  pid_t pid;
  uid_t uid;
  union sigval value;
};

/* One for each thread and one for the process, as for every standard signal: further ones are lost. */
enum { NO_SIGNAL, BEING_COPIED, WAITS };
struct waiting_signal {
  _Atomic int state;
  struct sent sent;
};
/* In index order: the kernel delivers the lower number first. */
static const int numbers[] = {SIGILL, SIGTRAP};
enum { PLACES = sizeof numbers / sizeof numbers[0] };
static THREAD_LOCAL struct waiting_signal for_thread[PLACES];
static struct waiting_signal for_process[PLACES];

static void put(struct waiting_signal *place, const siginfo_t *info) {
  int state = NO_SIGNAL;
  if (atomic_compare_exchange_strong(&place->state, &state, BEING_COPIED)) {
    place->sent = (struct sent){info->si_code, info->si_pid, info->si_uid, info->si_value};
    atomic_store(&place->state, WAITS);
  }
}

static bool take(struct waiting_signal *place, int signal, siginfo_t *info) {
  int state = WAITS;
  if (!atomic_compare_exchange_strong(&place->state, &state, BEING_COPIED)) {
    return false;
  }
  memset(info, 0, sizeof *info);
  info->si_signo = signal;
  info->si_code = place->sent.code;
  info->si_pid = place->sent.pid;
  info->si_uid = place->sent.uid;
  info->si_value = place->sent.value;
  atomic_store(&place->state, NO_SIGNAL);
  return true;
}

int trap_take(uint64_t wanted, siginfo_t *info) {
  for (int i = 0; i < PLACES; i++) {
    if (wanted & trap_bit(numbers[i]) &&
        (take(&for_thread[i], numbers[i], info) || take(&for_process[i], numbers[i], info))) {
      return numbers[i];
    }
  }
  return 0;
}

static bool waits(struct waiting_signal *place) {
  return atomic_load_explicit(&place->state, memory_order_relaxed) == WAITS;
}

uint64_t traps_waiting(void) {
  uint64_t waiting = 0;
  for (int i = 0; i < PLACES && !is_agent_thread; i++) {
    if (waits(&for_thread[i]) || waits(&for_process[i])) {
      waiting |= trap_bit(numbers[i]);
    }
  }
  return waiting;
}

void trap_queue_to_self(siginfo_t *info) {
  int error = errno;
  raw_syscall(SYS_rt_tgsigqueueinfo, getpid(), raw_syscall(SYS_gettid), info->si_signo, info);
  errno = error;
}

void traps_deliver(void) {
  siginfo_t info;
  for (uint64_t due; (due = traps_waiting() & ~traps_blocked) && trap_take(due, &info);) {
    trap_queue_to_self(&info);
  }
}

void trap_hold_back(const siginfo_t *info) {
  int place = info->si_signo == SIGTRAP;
  put(info->si_code == SI_TKILL ? &for_thread[place] : &for_process[place], info);
}

void traps_forked(void) {
  for (int i = 0; i < PLACES; i++) {
    atomic_store(&for_thread[i].state, NO_SIGNAL);
    atomic_store(&for_process[i].state, NO_SIGNAL);
  }
}
