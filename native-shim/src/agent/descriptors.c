/*
 * The agent's own descriptors. The new table begins as a copy of the program's; the copies are then closed.
 *
 * Assumes    A1 programs fork, so closing the copies in another table does not affect the program. The kernel keeps locks of
 *               fcntl(2) and directory notifications apart by table, notifications of message queues by process, and leases
 *               end with the last copy. File systems in user space are told of each closing, with an owner of locks that is
 *               the table's (FUSE_FLUSH); NFS, SMB and AFS write what is dirty of a file that is open for writing
 * Guarantees G1 a descriptor that the program closes later is really closed: no copy is open any more
 *            G2 no lock, lease or notification of the program is lost
 */
#include "agent/descriptors.h"

#include "os/sys.h"
#include "session/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static latch copies_are_closed; /* copies of main's descriptors are closed, or there are none */
bool agent_has_own_descriptors;

/* A new table always has copies of the first NR_OPEN_DEFAULT descriptors. */
enum { ALWAYS_COPIED = 64, NUMBERS_BEFORE_LINUX_5_9 = 65536, HELPER_STACK = 4096 };

static unsigned copied; /* all copied descriptors are below this number */

static bool copy_table(void) {
  if (raw_syscall(SYS_close_range, (unsigned)ALWAYS_COPIED, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
    copied = ALWAYS_COPIED;
    return true;
  }
  copied = NUMBERS_BEFORE_LINUX_5_9;
  return raw_syscall(SYS_unshare, CLONE_FILES) == 0;
}

/* Checks by a harmless system call. Not under a seccomp filter, which may kill the process for an unknown call. */
static bool is_message_queue(unsigned file) {
  struct mq_attr attributes;
  return raw_syscall(SYS_mq_getsetattr, file, NULL, &attributes) == 0;
}

static bool copied_message_queues(void) {
  bool some = false;
  for (unsigned file = 0; !some && raw_syscall(SYS_prctl, PR_GET_SECCOMP) == 0 && file < copied; file++) {
    some = is_message_queue(file);
  }
  return some;
}

static void close_copies(void) {
  if (raw_syscall(SYS_close_range, 0u, ~0u, 0) != 0) {
    for (unsigned file = 0; file < copied; file++) {
      raw_syscall(SYS_close, file);
    }
  }
}

static int close_copies_as_another(void *done) {
  close_copies();
  *(bool *)done = true;
  return 0;
}

/*
 * Closes them in a short-lived process that shares this thread's table and memory, because the kernel cancels mq_notify()
 * when the process that called it closes any descriptor of the queue, even a copy. Its end sends no signal; this thread
 * waits for it.
 */
static bool close_as_another_process(void) {
  _Alignas(16) char stack[HELPER_STACK];
  bool done = false;
  int helper = clone(close_copies_as_another, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_VFORK, &done);
  if (helper > 0) {
    while (waitpid(helper, NULL, __WALL | __WNOTHREAD) < 0 && errno == EINTR) {
    }
  }
  return done;
}

/* If no process can be created, queues stay open: losing a registration is worse. */
static void close_all_but_message_queues(void) {
  for (unsigned file = 0; file < copied; file++) {
    if (!is_message_queue(file)) {
      close((int)file);
    }
  }
}

static bool unshare_descriptors(void) {
  if (!copy_table()) {
    return false;
  }
  if (!copied_message_queues()) {
    close_copies();
  } else if (!close_as_another_process()) {
    close_all_but_message_queues();
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
  /* The JVM prints and assumes that descriptors 0 to 2 are open. */
  if (open("/dev/null", O_RDWR) < 0) {
    open("/", O_PATH);
  }
  dup2(0, 1);
  dup2(0, 2);
}

bool descriptors_await_own(uint64_t nanos) { return latch_await(&copies_are_closed, nanos); }
