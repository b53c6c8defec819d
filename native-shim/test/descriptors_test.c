/* The agent gets its own descriptors. What the program has registered by its descriptors stays. */
#include "agent/descriptors.h"
#include "fixture.h"
#include "process/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <mqueue.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static _Atomic int agent_is_done;
static struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

_Noreturn static void *take_own(void *unused) {
  (void)unused;
  descriptors_take_own();
  atomic_store(&agent_is_done, 1);
  for (;;) {
    pause();
  }
}

static void block(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  CHECK_EQUAL(sigprocmask(SIG_BLOCK, &set, NULL), 0);
}

static void give_agent_its_own(void) {
  create_session();
  block(SIGCHLD);
  signal(SIGCHLD, SIG_IGN); /* drops one left by the fixture's shell */
  signal(SIGCHLD, SIG_DFL);
  CHECK_EQUAL(threads_start_agent(take_own), 0);
  CHECK(descriptors_await_own(UINT64_MAX / 2));
  while (!atomic_load(&agent_is_done)) {
    usleep(100);
  }
  CHECK(agent_has_own_descriptors);
}

static bool is_pending(int signal) {
  sigset_t set;
  CHECK_EQUAL(sigpending(&set), 0);
  return sigismember(&set, signal);
}

/* The queue's registered signal is `number`. */
static void checkNotification(int number) {
  char name[64];
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 32};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  snprintf(name, sizeof name, "/mdl-descriptors-test.%d", getpid());
  mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  if (queue == (mqd_t)-1 && errno == ENOSYS) {
    skip("the kernel has no message queues");
  }
  CHECK(queue != (mqd_t)-1);
  mq_unlink(name);
  CHECK_EQUAL(dup2(queue, number), number);
  if (queue != number) {
    close(queue);
  }
  block(SIGUSR1);
  CHECK_EQUAL(mq_notify(number, &event), 0);
  give_agent_its_own();
  CHECK_EQUAL(mq_send(number, "message", 7, 0), 0);
  CHECK(is_pending(SIGUSR1)); /* sent before mq_send returns */
  CHECK_EQUAL(waitpid(-1, NULL, __WALL | WNOHANG), -1);
  CHECK_EQUAL(errno, ECHILD);
  CHECK(!is_pending(SIGCHLD));
}

static void shouldLeaveTheNotificationOfAQueue(void) { checkNotification(5); }

static void shouldLeaveTheNotificationOfAQueueThatIsStandardInput(void) { checkNotification(0); }

static void shouldLeaveTheNotificationOfAQueueWithALargeNumber(void) { checkNotification(900); }

static int file_with_lock(void) {
  int file = memfd_create("lock", 0);
  CHECK_EQUAL(fcntl(file, F_SETLK, &whole_file), 0);
  return file;
}

static void shouldLeaveLocks(void) {
  int file = file_with_lock();
  give_agent_its_own();
  pid_t child = fork();
  if (child == 0) {
    struct flock found = whole_file;
    CHECK_EQUAL(fcntl(file, F_GETLK, &found), 0);
    CHECK_EQUAL(found.l_type, F_WRLCK);
    CHECK_EQUAL(found.l_pid, getppid());
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

static void shouldLeaveALease(void) {
  char name[] = "/tmp/mdl-descriptors-test.XXXXXX";
  close(mkstemp(name));
  int file = open(name, O_RDONLY);
  unlink(name);
  if (fcntl(file, F_SETLEASE, F_RDLCK) != 0) {
    skip("the file system has no leases");
  }
  give_agent_its_own();
  CHECK_EQUAL(fcntl(file, F_GETLEASE), F_RDLCK);
}

static void shouldLeaveTheNotificationOfADirectory(void) {
  char name[] = "/tmp/mdl-descriptors-test.XXXXXX";
  CHECK(mkdtemp(name) != NULL);
  int directory = open(name, O_RDONLY | O_DIRECTORY);
  block(SIGRTMIN);
  CHECK_EQUAL(fcntl(directory, F_SETSIG, SIGRTMIN), 0);
  if (fcntl(directory, F_NOTIFY, DN_CREATE) != 0) {
    rmdir(name);
    skip("the kernel does not notify of directories");
  }
  give_agent_its_own();
  close(openat(directory, "file", O_CREAT | O_WRONLY, 0600));
  bool notified = is_pending(SIGRTMIN);
  unlinkat(directory, "file", 0);
  rmdir(name);
  CHECK(notified);
}

/* ---- a file system in user space: what its server is told about closes */

struct told {
  uint64_t locked_by; /* owner of the lock */
  _Atomic int flushes_of_owner, flushes_of_others, releases;
};

static void answer(int device, uint64_t unique, const void *body, size_t size) {
  struct {
    struct fuse_out_header header;
    char body[256];
  } message = {.header = {.len = (uint32_t)(sizeof message.header + size), .unique = unique}};
  memcpy(message.body, body, size);
  CHECK_EQUAL(write(device, &message, message.header.len), message.header.len);
}

static struct fuse_attr attributes_of(uint64_t node) {
  return (struct fuse_attr){.ino = node, .mode = node == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0600, .nlink = 1};
}

static void serve_one(int device, const struct fuse_in_header *request, const void *body, struct told *told) {
  static const char nothing[1];
  enum { FILE_NODE = 2 };
  switch (request->opcode) {
    case FUSE_INIT: {
      struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 4096, .flags = FUSE_POSIX_LOCKS};
      answer(device, request->unique, &init, sizeof init);
      return;
    }
    case FUSE_LOOKUP: {
      struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes_of(FILE_NODE)};
      answer(device, request->unique, &entry, sizeof entry);
      return;
    }
    case FUSE_GETATTR: {
      struct fuse_attr_out attributes = {.attr = attributes_of(request->nodeid)};
      answer(device, request->unique, &attributes, sizeof attributes);
      return;
    }
    case FUSE_OPEN: {
      struct fuse_open_out file = {.fh = 1};
      answer(device, request->unique, &file, sizeof file);
      return;
    }
    case FUSE_SETLK: told->locked_by = ((const struct fuse_lk_in *)body)->owner; break;
    case FUSE_FLUSH:
      atomic_fetch_add(((const struct fuse_flush_in *)body)->lock_owner == told->locked_by ? &told->flushes_of_owner
                                                                                          : &told->flushes_of_others,
                       1);
      break;
    case FUSE_RELEASE: atomic_fetch_add(&told->releases, 1); break;
    default: break;
  }
  if (request->opcode != FUSE_FORGET && request->opcode != FUSE_INTERRUPT) {
    answer(device, request->unique, nothing, 0);
  }
}

static void serve(int device, struct told *told) {
  static _Alignas(8) char bytes[FUSE_MIN_READ_BUFFER + 8192];
  while (read(device, bytes, sizeof bytes) > 0) {
    serve_one(device, (const struct fuse_in_header *)bytes, bytes + sizeof(struct fuse_in_header), told);
  }
  _exit(0);
}

/* Its copy is closed as by another process: the server is told of a close by an owner without locks. */
static void shouldLeaveLocksAndFilesOfAFileSystemInUserSpace(void) {
  char directory[] = "/tmp/mdl-descriptors-test.XXXXXX", how[100], name[PATH_MAX];
  struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  CHECK(mkdtemp(directory) != NULL);
  snprintf(how, sizeof how, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (device < 0 || mount("test", directory, "fuse.test", 0, how) != 0) {
    rmdir(directory);
    skip("file systems in user space are root's");
  }
  pid_t server = fork();
  if (server == 0) {
    serve(device, told);
  }
  close(device);
  snprintf(name, sizeof name, "%s/file", directory);
  int file = open(name, O_RDWR);
  umount2(directory, MNT_DETACH);
  rmdir(directory);
  CHECK(file >= 0);
  CHECK_EQUAL(fcntl(file, F_SETLK, &whole_file), 0);
  CHECK(told->locked_by != 0);
  give_agent_its_own();
  CHECK_EQUAL(told->flushes_of_owner, 0);
  CHECK(told->flushes_of_others > 0); /* the shell started by the fixture has copies as well */
  CHECK_EQUAL(told->releases, 0);
  close(file);
  CHECK_EQUAL(told->flushes_of_owner, 1);
  waitpid(server, NULL, 0); /* it ends with the last file: nobody has a copy */
}

/* With and without a message queue: the copies are closed by different processes. */
static void checkEnd(bool with_queue) {
  int ends[2];
  char byte;
  if (with_queue) {
    char name[64];
    snprintf(name, sizeof name, "/mdl-descriptors-test.%d", getpid());
    CHECK(mq_open(name, O_CREAT | O_RDWR, 0600, NULL) != (mqd_t)-1);
    mq_unlink(name);
  }
  CHECK_EQUAL(pipe2(ends, O_NONBLOCK), 0);
  give_agent_its_own();
  CHECK_EQUAL(read(ends[0], &byte, 1), -1);
  close(ends[1]);
  CHECK_EQUAL(read(ends[0], &byte, 1), 0);
}

static void shouldNotHoldAPipe(void) { checkEnd(false); }

static void shouldNotHoldAPipeBesideAQueue(void) { checkEnd(true); }

TESTS({"shouldLeaveTheNotificationOfAQueue", shouldLeaveTheNotificationOfAQueue},
      {"shouldLeaveTheNotificationOfAQueueThatIsStandardInput", shouldLeaveTheNotificationOfAQueueThatIsStandardInput},
      {"shouldLeaveTheNotificationOfAQueueWithALargeNumber", shouldLeaveTheNotificationOfAQueueWithALargeNumber},
      {"shouldLeaveLocks", shouldLeaveLocks},
      {"shouldLeaveALease", shouldLeaveALease},
      {"shouldLeaveTheNotificationOfADirectory", shouldLeaveTheNotificationOfADirectory},
      {"shouldLeaveLocksAndFilesOfAFileSystemInUserSpace", shouldLeaveLocksAndFilesOfAFileSystemInUserSpace},
      {"shouldNotHoldAPipe", shouldNotHoldAPipe},
      {"shouldNotHoldAPipeBesideAQueue", shouldNotHoldAPipeBesideAQueue})
