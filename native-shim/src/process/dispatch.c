#include "process/dispatch.h"

#include "code/death.h"
#include "code/trap.h"
#include "os/agent_threads.h"
#include "os/next.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/actions.h"
#include "process/trap_bit.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SI_KERNEL
#define SI_KERNEL 0x80
#endif

static void set_default(int signal) {
  agent_process_dies();
  struct sigaction standard = {.sa_handler = SIG_DFL};
  next()->sigaction(signal, &standard, NULL);
}

/* Raises it again where the thread was interrupted, with the same siginfo. */
static void end_by_trap(siginfo_t *info, ucontext_t *context) {
  int signal = info->si_signo;
  bool executes_again = signal == SIGILL && info->si_code > 0;
  if (getpid() == 1 && !executes_again) {
    /* The first process of a container: signals without a handler are ignored, unless the kernel itself traps. */
    if (info->si_code > 0) {
      set_default(signal);
      context->uc_mcontext.gregs[REG_RIP] -= info->si_code == SI_KERNEL;
    }
    return;
  }
  set_default(signal);
  if (executes_again) {
    return; /* the real signal ends the process at the instruction */
  }
  sigset_t before;
  signals_block_all(&before); /* until this handler returns */
  trap_queue_to_self(info);
}

/* Calls it with the action's mask. */
static void call_trap_handler(const struct sigaction *action, siginfo_t *info, ucontext_t *context) {
  uint64_t mask = mask_word(&action->sa_mask);
  uint64_t own = action->sa_flags & SA_NODEFER ? 0 : trap_bit(info->si_signo);
  if (mask & ~TRAPS) {
    change_kernel_mask(SIG_BLOCK, mask & ~TRAPS);
  }
  add_to_mask(&context->uc_sigmask, traps_blocked);
  traps_blocked |= own | (mask & TRAPS);
  signals_call(action, info->si_signo, info, context);
  traps_blocked = mask_word(&context->uc_sigmask) & TRAPS;
  *(uint64_t *)&context->uc_sigmask &= ~TRAPS;
  if (traps_waiting() & ~traps_blocked) {
    /* Delivered after this handler has returned, not inside it. */
    change_kernel_mask(SIG_BLOCK, TRAPS);
    traps_deliver();
  }
}

static void dispatch_trap(siginfo_t *info, ucontext_t *context) {
  bool sent = info->si_code <= 0;
  int signal = info->si_signo;
  uint64_t blocked = traps_blocked & trap_bit(signal);
  if (sent && blocked) {
    trap_hold_back(info);
    return;
  }
  struct sigaction action = application_action(signal);
  if (sent && action.sa_handler == SIG_IGN) {
    return;
  }
  if (!has_handler(&action) || blocked) {
    end_by_trap(info, context);
    return;
  }
  if (action.sa_flags & (int)SA_RESETHAND) {
    struct sigaction standard = action;
    standard.sa_handler = SIG_DFL;
    set_application_action(signal, &standard);
  }
  call_trap_handler(&action, info, context);
}

/* For SI_USER: the kernel does not let a process forward a kill() with its original code. */
enum { PASSED_ON = -0x6D646C };

/*
 * A signal sent to the process, which the kernel delivered to this thread by chance, is forwarded. (It arrives later than
 * kill() promises a single-threaded process, and two may merge into one.) A signal sent to this very thread is not the
 * application's.
 */
static void pass_to_main(int signal, siginfo_t *info) {
  if (info->si_code == SI_TKILL) {
    return;
  }
  if (info->si_code == SI_USER) {
    info->si_code = PASSED_ON;
  }
  if (raw_syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), signal, info) < 0) {
    raw_syscall(SYS_tgkill, getpid(), getpid(), signal);
  }
}

void signals_dispatch(int signal, siginfo_t *info, void *context) {
  if (trap_bit(signal) && trap_redirect(signal, info->si_code, context)) {
    return;
  }
  int error = errno;
  bool sent = info->si_code <= 0; /* by a process, not by the kernel */
  if (is_agent_thread) {
    if (sent) {
      agent_threads_leave_if_removed(context);
      pass_to_main(signal, info);
    } else if (atomic_load(&process_exiting) || !has_handler(&jvm_actions[signal])) {
      agent_threads_park();
    } else {
      signals_call(&jvm_actions[signal], signal, info, context);
    }
    errno = error;
    return;
  }
  if (info->si_code == PASSED_ON) {
    info->si_code = SI_USER;
  }
  if (trap_bit(signal)) {
    dispatch_trap(info, context);
    errno = error;
    return;
  }
  struct sigaction action = application_action(signal);
  if (action.sa_handler == SIG_IGN && sent) {
    errno = error;
    return;
  }
  if (!has_handler(&action)) {
    /* The kernel does not ignore faults. Return to the instruction, where the real signal ends the process. */
    set_default(signal);
    if (sent) {
      raw_syscall(SYS_tgkill, getpid(), raw_syscall(SYS_gettid), signal);
    }
    errno = error;
    return;
  }
  if (action.sa_flags & (int)SA_RESETHAND) {
    struct sigaction standard = action;
    standard.sa_handler = SIG_DFL;
    set_application_action(signal, &standard);
  }
  errno = error;
  signals_call(&action, signal, info, context);
}
