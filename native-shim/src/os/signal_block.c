#include "os/signal_block.h"

#include "os/sys.h"

#include <stddef.h>
#include <sys/syscall.h>

static void set_mask(uint64_t mask, sigset_t *before) {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
}

bool signal_is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

static const uint64_t ALL_BUT_TRAPS = ~(1ULL << (SIGTRAP - 1) | 1ULL << (SIGILL - 1));

void signals_block_all_but_traps(sigset_t *before) { set_mask(ALL_BUT_TRAPS, before); }

uint64_t signals_block_word(void) {
  uint64_t before;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &ALL_BUT_TRAPS, &before, sizeof before);
  return before;
}

void signals_restore_word(uint64_t before) { raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before); }

void signals_block_all(sigset_t *before) { set_mask(~0ULL, before); }

/* libc's setuid signals every thread to change its ids, by a signal that libc reserves, and waits for all of them. */
static bool is_libcs_own(int signal) { return signal == 32 || signal == 33; }

static bool agent_takes(int signal) { return signal_is_fault(signal) || signal == SIGTRAP || is_libcs_own(signal); }

uint64_t signals_blocked_by_agent(void) {
  uint64_t blocked = ~0ULL;
  for (int signal = 1; signal < SIGNALS; signal++) {
    if (agent_takes(signal)) {
      blocked &= ~(1ULL << (signal - 1));
    }
  }
  return blocked;
}

void signals_block_for_agent(sigset_t *before) { set_mask(signals_blocked_by_agent(), before); }

void signals_restore(const sigset_t *before) {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof(uint64_t));
}
