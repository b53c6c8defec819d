#include "os/next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

struct next next_table;

/* Two threads may get here at once; both store the same values. sigaction is stored last, because next() tests it. */
void next_resolve(void) {
#define RESOLVE(field, symbol) *(void **)&next_table.field = dlsym(RTLD_NEXT, symbol)
  RESOLVE(signal, "signal");
  RESOLVE(sysv_signal, "__sysv_signal");
  RESOLVE(sigset, "sigset");
  RESOLVE(siginterrupt, "siginterrupt");
  RESOLVE(sigprocmask, "sigprocmask");
  RESOLVE(pthread_sigmask, "pthread_sigmask");
  RESOLVE(pthread_attr_setsigmask_np, "pthread_attr_setsigmask_np");
  RESOLVE(timer_create, "timer_create");
  RESOLVE(sigsuspend, "sigsuspend");
  RESOLVE(ppoll, "ppoll");
  RESOLVE(ppoll_chk, "__ppoll_chk");
  RESOLVE(pselect, "pselect");
  RESOLVE(epoll_pwait, "epoll_pwait");
  RESOLVE(epoll_pwait2, "epoll_pwait2");
  RESOLVE(sigpending, "sigpending");
  RESOLVE(sigtimedwait, "sigtimedwait");
  RESOLVE(sigwaitinfo, "sigwaitinfo");
  RESOLVE(sigwait, "sigwait");
  RESOLVE(save_jump, "__sigsetjmp");
  RESOLVE(jump, "siglongjmp");
  RESOLVE(jump_checked, "__longjmp_chk");
  RESOLVE(setcontext, "setcontext");
  RESOLVE(swapcontext, "swapcontext");
  RESOLVE(pthread_create, "pthread_create");
  RESOLVE(thrd_create, "thrd_create");
  RESOLVE(exit, "exit");
  RESOLVE(quick_exit, "quick_exit");
  RESOLVE(_exit, "_exit");
  RESOLVE(abort, "abort");
  RESOLVE(execve, "execve");
  RESOLVE(execvpe, "execvpe");
  RESOLVE(fexecve, "fexecve");
  RESOLVE(posix_spawn, "posix_spawn");
  RESOLVE(posix_spawnp, "posix_spawnp");
  RESOLVE(cxa_atexit, "__cxa_atexit");
  RESOLVE(getenv, "getenv");
  RESOLVE(secure_getenv, "secure_getenv");
  RESOLVE(setlocale, "setlocale");
  RESOLVE(nl_langinfo, "nl_langinfo");
  RESOLVE(tzset, "tzset");
  RESOLVE(localtime_r, "localtime_r");
  RESOLVE(gmtime_r, "gmtime_r");
  RESOLVE(setuid, "setuid");
  RESOLVE(seteuid, "seteuid");
  RESOLVE(setreuid, "setreuid");
  RESOLVE(setresuid, "setresuid");
  RESOLVE(setgid, "setgid");
  RESOLVE(setegid, "setegid");
  RESOLVE(setregid, "setregid");
  RESOLVE(setresgid, "setresgid");
  RESOLVE(fflush, "fflush");
  RESOLVE(fopen, "fopen");
  RESOLVE(dlopen, "dlopen");
  RESOLVE(dl_find_object, "_dl_find_object");
  RESOLVE(dl_iterate_phdr, "dl_iterate_phdr");
  RESOLVE(backtrace, "backtrace");
  RESOLVE(dlclose, "dlclose");
  atomic_thread_fence(memory_order_release);
  RESOLVE(sigaction, "sigaction");
#undef RESOLVE
}
