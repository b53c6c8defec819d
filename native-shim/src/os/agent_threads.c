#include "os/agent_threads.h"

#include "os/self.h"
#include "os/signal_block.h"
#include "os/sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AGENT_THREADS_MAX = 256 };

_Atomic int agent_threads;
/* Negative once a thread begins to end. It stays negative, because the thread still exists. */
static _Atomic int tids[AGENT_THREADS_MAX];
static _Atomic uint64_t ended_nanos; /* CPU time of ended agent threads */
static _Atomic bool removing;

/* False if the kernel no longer counts it among the process's threads. Signal 0 only checks. */
static bool signal_thread(int tid, int signal) { return raw_syscall(SYS_tgkill, getpid(), tid, signal) == 0; }

static bool is_gone(int entry) { return entry == 0 || (entry < 0 && !signal_thread(-entry, 0)); }

void agent_threads_enter(void) {
  int tid = (int)raw_syscall(SYS_gettid);
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    int entry = atomic_load(&tids[i]);
    if (is_gone(entry) && atomic_compare_exchange_strong(&tids[i], &entry, tid)) {
      return;
    }
  }
}

void agent_threads_leave(void) {
  int tid = (int)raw_syscall(SYS_gettid);
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    int expected = tid;
    if (atomic_compare_exchange_strong(&tids[i], &expected, -tid)) {
      atomic_fetch_add(&ended_nanos, clock_nanos(CLOCK_THREAD_CPUTIME_ID));
      break;
    }
  }
  atomic_fetch_sub(&agent_threads, 1);
}

static bool is_entry(int entry) {
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    if (atomic_load_explicit(&tids[i], memory_order_relaxed) == entry) {
      return true;
    }
  }
  return false;
}

bool agent_threads_have_running(int tid) { return is_entry(tid); }

bool agent_threads_have(int tid) { return is_entry(tid) || is_entry(-tid); }

uint64_t agent_threads_cpu_nanos(void) {
  uint64_t sum = atomic_load(&ended_nanos);
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    int tid = atomic_load_explicit(&tids[i], memory_order_relaxed);
    if (tid > 0) {
      sum += clock_nanos(thread_cpu_clock(tid));
    }
  }
  return sum;
}

uint64_t agent_threads_waited_nanos(void) {
  int self = (int)raw_syscall(SYS_gettid);
  uint64_t sum = 0;
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    int tid = atomic_load_explicit(&tids[i], memory_order_relaxed);
    if (tid > 0 && tid != self) {
      char path[64], text[80], *end;
      snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
      read_text(path, text, sizeof text);
      strtoull(text, &end, 10); /* how long it has run */
      sum += strtoull(end, NULL, 10);
    }
  }
  return sum;
}

/*
 * A thread that waits in the kernel holds no lock that the application needs: of libc's locks, only the dynamic linker's are
 * held during a wait, and then with the gate held. EINTR shows that a signal has interrupted such a wait.
 */
void agent_threads_leave_if_removed(const ucontext_t *context) {
  const uint8_t *at = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
  bool waited = context->uc_mcontext.gregs[REG_RAX] == -EINTR && at[-2] == 0x0F && at[-1] == 0x05;
  if (waited && atomic_load(&removing)) {
    agent_threads_leave();
    for (;;) {
      raw_syscall(SYS_exit, 0);
    }
  }
}

bool agent_threads_signal(int signal) {
  bool some = atomic_load(&agent_threads) > 0;
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    int entry = atomic_load(&tids[i]);
    some |= entry > 0 ? signal_thread(entry, signal) : !is_gone(entry);
  }
  return some;
}

bool agent_threads_are_there(void) {
  return !is_agent_thread && process_pid && getpid() == process_pid && agent_threads_signal(0);
}

int agent_threads_counted(bool *sure) {
  int there = 0, running = 0;
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    int entry = atomic_load(&tids[i]);
    there += !is_gone(entry);
    running += entry > 0;
  }
  int changing = atomic_load(&agent_threads) - running;
  *sure = changing == 0;
  return there + changing;
}

void agent_threads_remove(bool on) { atomic_store(&removing, on); }

_Noreturn void agent_threads_park(void) {
  sigset_t before;
  signals_block_for_agent(&before);
  for (;;) {
    raw_syscall(SYS_pause);
  }
}

int agent_threads_one(void) {
  int one = 0;
  for (int i = 0; one == 0 && i < AGENT_THREADS_MAX; i++) {
    int tid = atomic_load_explicit(&tids[i], memory_order_relaxed);
    one = tid > 0 ? tid : 0;
  }
  return one;
}

void agent_threads_forked(void) {
  atomic_store(&agent_threads, 0);
  for (int i = 0; i < AGENT_THREADS_MAX; i++) {
    atomic_store_explicit(&tids[i], 0, memory_order_relaxed);
  }
}
