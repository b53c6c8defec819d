#include "agent/descriptors.h"

#include "os/sys.h"
#include "session/log.h"

#include <fcntl.h>
#include <sched.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

static latch copies_are_closed; /* of main's descriptors; or there are none */
bool agent_has_own_descriptors;

/* An empty table of descriptors. By one call, in which a thread that is delayed holds no copies. */
static bool unshare_descriptors(void) {
  if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
    return true;
  }
  if (unshare(CLONE_FILES) < 0) {
    return false;
  }
  for (int file = 0; file < 65536; file++) { /* before Linux 5.9 */
    close(file);
  }
  return true;
}

void descriptors_take_own(void) {
  agent_has_own_descriptors = unshare_descriptors();
  latch_open(&copies_are_closed);
  if (!agent_has_own_descriptors) {
    log_line("unshare is refused: the agent's descriptors are among the program's, and there is no control socket", NULL);
    return;
  }
  /* The JVM prints, and takes for granted that 0 to 2 are open. */
  if (open("/dev/null", O_RDWR) < 0) {
    open("/", O_PATH);
  }
  dup2(0, 1);
  dup2(0, 2);
}

bool descriptors_await_own(uint64_t nanos) { return latch_await(&copies_are_closed, nanos); }
