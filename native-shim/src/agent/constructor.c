#include "agent/construct.h"

#include "os/glibc.h"
#include "os/sys.h"

#include <sys/syscall.h>
#include <unistd.h>

/* main runs a preloaded library's constructor. If another thread runs it, `mdl attach` has opened the library, and calls
 * mdl_attach(). */
__attribute__((constructor)) static void construct(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  if (glibc_is_here() && raw_syscall(SYS_gettid) == getpid()) {
    agent_construct(environment);
  }
}
