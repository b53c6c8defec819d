/*
 * Descriptors of the agent's own. A thread's table begins as a copy of the program's, and the copies are closed.
 *
 * Assumes    A1 a program forks: that another process closes its copies changes nothing for it. The kernel tells locks of
 *               fcntl(2) and directory notifications apart by table, notifications of message queues by process, and leases
 *               end with the last copy. File systems in user space are told of each closing, with an owner of locks that is
 *               the table's (FUSE_FLUSH); NFS, SMB and AFS write what is dirty of a file that is open for writing
 * Guarantees G1 what the program closes later ends: no copy is open any more
 *            G2 no lock, lease or notification of the program ends by it
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

static latch copies_are_closed; /* of main's descriptors; or there are none */
bool agent_has_own_descriptors;

/* A new table has copies of the first ones whatever the kernel is asked for: NR_OPEN_DEFAULT. */
enum { ALWAYS_COPIED = 64, NUMBERS_BEFORE_LINUX_5_9 = 65536, HELPER_STACK = 4096 };

static unsigned copied; /* descriptors are below this number */

static bool copy_table(void) {
  if (syscall(SYS_close_range, (unsigned)ALWAYS_COPIED, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
    copied = ALWAYS_COPIED;
    return true;
  }
  copied = NUMBERS_BEFORE_LINUX_5_9;
  return unshare(CLONE_FILES) == 0;
}

/* By a system call that does nothing to it. Behind a filter nobody asks: it may kill for a call that it does not know. */
static bool is_message_queue(unsigned file) {
  struct mq_attr attributes;
  return syscall(SYS_mq_getsetattr, file, NULL, &attributes) == 0;
}

static bool copied_message_queues(void) {
  bool some = false;
  for (unsigned file = 0; !some && prctl(PR_GET_SECCOMP) == 0 && file < copied; file++) {
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
 * By a process that has this thread's table and memory, and ends at once: the kernel takes back mq_notify() when the process that
 * called it closes any descriptor of the queue, a copy too. Its end is signalled to nobody, and is waited for by this thread.
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

/* Without another process, queues stay open: a registration that is lost is worse. */
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
  /* The JVM prints, and takes for granted that 0 to 2 are open. */
  if (open("/dev/null", O_RDWR) < 0) {
    open("/", O_PATH);
  }
  dup2(0, 1);
  dup2(0, 2);
}

bool descriptors_await_own(uint64_t nanos) { return latch_await(&copies_are_closed, nanos); }
