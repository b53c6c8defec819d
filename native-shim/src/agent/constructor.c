#include "agent/construct.h"

#include "os/glibc.h"
#include "os/sys.h"

#include <sys/syscall.h>
#include <unistd.h>

/* A preloaded library is constructed by main. One that is opened on another thread is what `mdl attach` has brought, which
 * calls mdl_attach(). */
__attribute__((constructor)) static void construct(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  if (glibc_is_here() && raw_syscall(SYS_gettid) == getpid()) {
    agent_construct(environment);
  }
}
