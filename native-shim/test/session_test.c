#include "fixture.h"
#include "os/next.h"
#include "session/image_cache.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/waiters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static const char *create(const char *directory) {
  struct instant now = instant_now();
  snprintf(options.session, sizeof options.session, "%s", directory);
  return agent_begin_session(&now);
}

static const char *in_scratch(const char *name) {
  static char path[8][128];
  static int next_path;
  char *result = path[next_path++ % 8];
  snprintf(result, sizeof path[0], "%s/%s", scratch, name);
  return result;
}

static bool log_contains(const char *text) {
  static char content[8192];
  int file = open(log_path, O_RDONLY);
  ssize_t length = read(file, content, sizeof content - 1);
  close(file);
  content[length > 0 ? length : 0] = 0;
  return strstr(content, text) != NULL;
}

static void begin(void) {
  make_scratch();
  process_start();
}

static void shouldCreateDirectoryLogAndLinkToAFileOfTheUserAlone(void) {
  begin();
  struct instant before = instant_now();
  CHECK(create(in_scratch("a/b")) == NULL);
  struct stat status;
  CHECK(lstat(in_scratch("a/b/session.mdl"), &status) == 0 && S_ISLNK(status.st_mode));
  CHECK(stat(in_scratch("a/b/session.mdl"), &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0400);
  CHECK_EQUAL(status.st_size, session->limit);
  CHECK(stat(in_scratch("a/b"), &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0700);
  CHECK(stat(in_scratch("a/b/agent.log"), &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0600);
  char path[128];
  snprintf(path, sizeof path, "%s/mdl-%u", scratch, geteuid());
  CHECK(stat(path, &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0700);

  struct mdl_header read_back;
  int file = open(in_scratch("a/b/session.mdl"), O_RDONLY);
  CHECK_EQUAL(read(file, &read_back, sizeof read_back), sizeof read_back);
  CHECK(read_back.magic == MDL_MAGIC);
  CHECK_EQUAL(read_back.version, MDL_VERSION);
  CHECK_EQUAL(read_back.header_size, sizeof read_back);
  CHECK_EQUAL(read_back.base, (uintptr_t)session);
  CHECK_EQUAL(read_back.pid, getpid());
  CHECK_EQUAL(read_back.state, MDL_STARTING);
  CHECK_EQUAL(read_back.exit_status, -1);
  CHECK(read_back.start_real_nanos >= before.real_nanos);
  CHECK(read_back.start_tsc >= before.tsc);
  CHECK(read_back.now_tsc > read_back.start_tsc);
  CHECK_TEXT(read_back.directory, in_scratch("a/b"));
  char prefix[64];
  snprintf(prefix, sizeof prefix, "session_test-%d-", getpid());
  CHECK(strncmp(read_back.id, prefix, strlen(prefix)) == 0);
  CHECK_EQUAL(strlen(read_back.id), strlen(prefix) + strlen("yyyymmddThhmmss"));
  CHECK(strstr(read_back.program, "/session_test") != NULL);
  char expected[128], ticks[32], boot[64];
  snprintf(expected, sizeof expected, "cut -d' ' -f22 /proc/%d/stat; cat /proc/sys/kernel/random/boot_id", getpid());
  FILE *truth = popen(expected, "r");
  CHECK(fgets(ticks, sizeof ticks, truth) != NULL && fgets(boot, sizeof boot, truth) != NULL);
  pclose(truth);
  CHECK_EQUAL(read_back.start_ticks, strtoull(ticks, NULL, 10));
  CHECK_EQUAL(strlen(read_back.boot), 36);
  CHECK(strncmp(read_back.boot, boot, 36) == 0);
  remove_scratch();
}

static void shouldMakeWhatItsUserCanUseWhateverTheUmask(void) {
  begin();
  umask(0777);
  CHECK(create(in_scratch("a/b")) == NULL);
  log_line("a line", NULL);
  umask(022);
  const char *directories[] = {"a", "a/b"}, *files[] = {"a/b/session.mdl", "a/b/agent.log"};
  struct stat status;
  for (int i = 0; i < 2; i++) {
    CHECK(stat(in_scratch(directories[i]), &status) == 0);
    CHECK_EQUAL(status.st_mode & 07777, 0700);
    CHECK(stat(in_scratch(files[i]), &status) == 0);
    CHECK_EQUAL(status.st_mode & 07777, i == 0 ? 0400 : 0600);
  }
  char path[128];
  snprintf(path, sizeof path, "%s/mdl-%u", scratch, geteuid());
  CHECK(stat(path, &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0700);
  remove_scratch();
}

/* By mistake, as with `> session.mdl`: it would kill the program. */
static void shouldMakeAFileThatItsUserDoesNotTruncate(void) {
  begin();
  CHECK(geteuid() != 0 || (chown(scratch, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0));
  CHECK(create(in_scratch("s")) == NULL);
  const char *path = in_scratch("s/session.mdl");
  struct stat before, after;
  CHECK(stat(path, &before) == 0);
  CHECK(truncate(path, 0) < 0 && errno == EACCES);
  CHECK(open(path, O_WRONLY | O_TRUNC) < 0 && errno == EACCES);

  int found = session_open_for_reading(), file = session_open_for_writing(found); /* as a related process does */
  uint64_t word = 4711;
  CHECK_EQUAL(pwrite(file, &word, sizeof word, offsetof(struct mdl_header, agent_cpu_nanos)), sizeof word);
  CHECK_EQUAL(session->agent_cpu_nanos, 4711);
  close(file);
  close(found);
  CHECK(stat(path, &after) == 0);
  CHECK_EQUAL(after.st_mode & 07777, 0400);
  CHECK_EQUAL(after.st_size, before.st_size);
  remove_scratch();
}

static void shouldOpenNoFileButItsOwn(void) {
  begin();
  CHECK(create(in_scratch("s")) == NULL);
  const char *path = in_scratch("s/session.mdl"), *victim = in_scratch("victim");
  CHECK_EQUAL(close(open(victim, O_CREAT | O_WRONLY, 0640)), 0);
  CHECK(unlink(path) == 0 && symlink(victim, path) == 0);
  struct stat status;
  CHECK(session_open_for_reading() < 0);
  CHECK(stat(victim, &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0640);
  remove_scratch();
}

/* A FIFO opened for writing would wait for a reader; and one that has a reader gets nothing. */
static void shouldNotWriteItsLogToAPipe(void) {
  begin();
  CHECK(create(in_scratch("s")) == NULL);
  CHECK_EQUAL(unlink(log_path), 0);
  CHECK_EQUAL(mkfifo(log_path, 0600), 0);
  log_line("nobody reads", NULL);
  int reader = open(log_path, O_RDONLY | O_NONBLOCK);
  log_line("somebody reads", NULL);
  char text[64];
  CHECK_EQUAL(read(reader, text, sizeof text), 0);
  close(reader);
  remove_scratch();
}

static void shouldTakeADirectoryBelowWhenTheGivenOneHasASession(void) {
  begin();
  CHECK(create(in_scratch("s")) == NULL);
  CHECK_TEXT(session->directory, in_scratch("s"));
  int child = fork();
  if (child == 0) {
    CHECK(create(in_scratch("s")) == NULL);
    char expected[700];
    snprintf(expected, sizeof expected, "%s/%s", in_scratch("s"), session->id);
    CHECK_TEXT(session->directory, expected);
    CHECK_EQUAL(session->pid, getpid());
    CHECK_EQUAL(access(log_path, F_OK), 0);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(session->pid, getpid());
  remove_scratch();
}

static void shouldUseTheStateDirectoryWhenNoneIsGiven(void) {
  begin();
  snprintf(options.state_home, sizeof options.state_home, "%s", in_scratch("state"));
  CHECK(create("") == NULL);
  char expected[700];
  snprintf(expected, sizeof expected, "%s/mdl/sessions/%s", in_scratch("state"), session->id);
  CHECK_TEXT(session->directory, expected);
  remove_scratch();
}

static void shouldFallBackToTheLastResortAndSaySo(void) {
  begin();
  session_last_resort = scratch;
  CHECK_EQUAL(close(open(in_scratch("file"), O_CREAT | O_WRONLY, 0600)), 0);
  CHECK(create(in_scratch("file/below")) == NULL);
  char expected[700];
  snprintf(expected, sizeof expected, "%s/mdl-%u/%s", scratch, geteuid(), session->id);
  CHECK_TEXT(session->directory, expected);
  CHECK(log_contains("cannot be written (ENOTDIR)"));
  remove_scratch();
}

/* With and without a link to a directory of root. */
static void shouldCreateNothingAsRootInAnotherUsersDirectory(void) {
  enum { NOBODY = 65534 };
  if (geteuid() != 0) {
    skip("only root could");
  }
  begin();
  session_last_resort = scratch;
  char home[128], elsewhere[128], link[160], expected[700];
  snprintf(home, sizeof home, "%s", in_scratch("home"));
  snprintf(elsewhere, sizeof elsewhere, "%s", in_scratch("elsewhere"));
  snprintf(link, sizeof link, "%s/mdl", home);
  CHECK_EQUAL(mkdir(home, 0755) + mkdir(elsewhere, 0700) + chown(home, NOBODY, NOBODY) + symlink(elsewhere, link), 0);
  strcpy(options.state_home, home);
  CHECK(create("") == NULL);
  snprintf(expected, sizeof expected, "%s/mdl-0/%s", scratch, session->id);
  CHECK_TEXT(session->directory, expected);
  CHECK(log_contains("cannot be written (EPERM)"));
  CHECK_EQUAL(unlink(link), 0);
  session_tell_why_not("as a test", "wants");
  CHECK_EQUAL(rmdir(elsewhere), 0);
  CHECK_EQUAL(rmdir(home), 0);
  remove_scratch();
}

static void shouldRefuseAMemoryDirectoryThatOthersCanEnter(void) {
  begin();
  char path[128];
  snprintf(path, sizeof path, "%s/mdl-%u", scratch, geteuid());
  CHECK_EQUAL(mkdir(path, 0700), 0);
  CHECK_EQUAL(chmod(path, 0755), 0);
  CHECK(create(in_scratch("s")) == NULL);
  struct stat status;
  CHECK(lstat(in_scratch("s/session.mdl"), &status) == 0 && S_ISREG(status.st_mode));
  CHECK(log_contains("cannot hold the session file (EPERM)"));
  remove_scratch();
}

static void shouldNotFollowALinkInPlaceOfTheMemoryDirectory(void) {
  begin();
  char path[128];
  snprintf(path, sizeof path, "%s/mdl-%u", scratch, geteuid());
  CHECK_EQUAL(mkdir(in_scratch("elsewhere"), 0700), 0);
  CHECK_EQUAL(symlink(in_scratch("elsewhere"), path), 0);
  CHECK(create(in_scratch("s")) == NULL);
  struct stat status;
  CHECK(lstat(in_scratch("s/session.mdl"), &status) == 0 && S_ISREG(status.st_mode));
  CHECK_EQUAL(rmdir(in_scratch("elsewhere")), 0); /* empty */
  remove_scratch();
}

static bool write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY);
  bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  close(file);
  return written;
}

/* A tmpfs of `megabytes` that only this process sees. */
static void mount_small(const char *where, int megabytes) {
  char data[32];
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", geteuid(), geteuid());
  snprintf(groups, sizeof groups, "%u %u 1", getegid(), getegid());
  CHECK_EQUAL(mkdir(where, 0700), 0);
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !write_file("/proc/self/uid_map", users) ||
      !write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/gid_map", groups)) {
    remove_scratch();
    skip("no user namespace for a small tmpfs");
  }
  snprintf(data, sizeof data, "size=%dm", megabytes);
  if (mount("tmpfs", where, "tmpfs", 0, data) < 0) {
    remove_scratch();
    skip("a tmpfs cannot be mounted here");
  }
}

static void shouldPutTheFileIntoTheSessionsDirectoryWhenMemoryIsFull(void) {
  make_scratch();
  mount_small(in_scratch("shm"), 2);
  process_start();
  session_memory_root = in_scratch("shm");
  CHECK(create(in_scratch("s")) == NULL);
  struct stat status;
  CHECK(lstat(in_scratch("s/session.mdl"), &status) == 0 && S_ISREG(status.st_mode));
  CHECK(log_contains("cannot hold the session file (ENOSPC)"));
  umount2(session_memory_root, MNT_DETACH);
  remove_scratch();
}

static void shouldStepAsideWhenThereIsNoRoomAtAll(void) {
  make_scratch();
  mount_small(in_scratch("full"), 2);
  process_start();
  session_memory_root = in_scratch("full");
  const char *trouble = create(in_scratch("full/s"));
  CHECK(trouble != NULL);
  CHECK(strstr(trouble, "ENOSPC") != NULL);
  CHECK(session == NULL);
  CHECK_EQUAL(session_allocate(64), 0);
  umount2(session_memory_root, MNT_DETACH);
  remove_scratch();
}

static void shouldTakeAtMostHalfOfWhatIsFree(void) {
  make_scratch();
  mount_small(in_scratch("shm"), 32);
  process_start();
  session_memory_root = in_scratch("shm");
  CHECK(create(in_scratch("s")) == NULL);
  CHECK(session->limit <= 16 << 20);
  CHECK(session->limit > 12 << 20);
  umount2(session_memory_root, MNT_DETACH);
  remove_scratch();
}

static void shouldLeaveTheMemoryToOthersWhenEndedSessionsHaveTheirShareOfIt(void) {
  make_scratch();
  mount_small(in_scratch("shm"), 64);
  process_start();
  session_memory_root = in_scratch("shm");
  struct stat status;
  for (int i = 0; i < 6; i++) {
    char name[8] = {'s', (char)('0' + i), 0};
    char link[16];
    snprintf(link, sizeof link, "%s/session.mdl", name);
    pid_t child = fork();
    if (child == 0) {
      CHECK(create(in_scratch(name)) == NULL);
      CHECK(log_contains("cannot hold the session file (EDQUOT)") == (i == 5));
      _exit(0);
    }
    int ending;
    waitpid(child, &ending, 0);
    CHECK_EQUAL(ending, 0);
    CHECK(lstat(in_scratch(link), &status) == 0);
    CHECK(S_ISREG(status.st_mode) == (i == 5)); /* 4 MiB each: the fifth is the first to exceed 16 */
  }
  umount2(session_memory_root, MNT_DETACH);
  remove_scratch();
}

static void shouldRefuseAllocationsWhenMemoryRunsOutLater(void) {
  make_scratch();
  mount_small(in_scratch("shm"), 32);
  process_start();
  session_memory_root = in_scratch("shm");
  CHECK(create(in_scratch("s")) == NULL);
  int file = open(in_scratch("shm/hog"), O_CREAT | O_WRONLY, 0600);
  for (off_t size = 32 << 20; size >= 4096; size /= 2) {
    while (fallocate(file, 0, lseek(file, 0, SEEK_END), size) == 0) {
    }
  }
  uint64_t given = 0;
  for (char *at; (at = (char *)session_allocate(64 << 10)) != NULL; given += 64 << 10) {
    memset(at, 1, 64 << 10); /* no SIGBUS */
  }
  CHECK(given >= 3 << 20);
  CHECK(given < 8 << 20);
  CHECK(session->arena_refused >= 1);
  umount2(session_memory_root, MNT_DETACH);
  remove_scratch();
}

static void shouldHonourTheLimitOfFileSizes(void) {
  begin();
  struct rlimit limit = {8 << 20, 8 << 20};
  CHECK_EQUAL(syscall(SYS_setrlimit, RLIMIT_FSIZE, &limit), 0);
  CHECK(create(in_scratch("s")) == NULL);
  CHECK_EQUAL(session->limit, 8 << 20);
  remove_scratch();
}

static void shouldAllocateAlignedZeroedDisjointMemoryAndGrow(void) {
  create_session();
  uint64_t initial = session->arena_end;
  uint64_t previous_end = (uintptr_t)session + session->arena_next;
  for (uint64_t size = 1; session->arena_end < 3 * initial; size = size * 3 % 100003) {
    uint64_t at = session_allocate(size);
    CHECK(at != 0);
    CHECK_EQUAL(at % 64, 0);
    CHECK(at >= previous_end);
    for (uint64_t i = 0; i < size; i++) {
      CHECK(((char *)at)[i] == 0);
      ((char *)at)[i] = 1;
    }
    previous_end = at + size;
    CHECK(previous_end <= (uintptr_t)session + session->arena_end);
  }
  CHECK_EQUAL(session->arena_refused, 0);
}

static void shouldRefuseWhatIsBeyondTheLimitAndGoOnWithLess(void) {
  create_session();
  CHECK_EQUAL(session_allocate(session->limit), 0);
  CHECK_EQUAL(session_allocate(~0ULL), 0);
  CHECK_EQUAL(session_allocate(~0ULL - 63), 0);
  CHECK_EQUAL(session->arena_refused, 3);
  CHECK(session_allocate(64) != 0);
}

enum { ALLOCATORS = 4, BLOCKS = 3000, BLOCK = 2048 };

static void *allocate_blocks(void *number) {
  unsigned char mark = (unsigned char)((uintptr_t)number + 1);
  unsigned char **blocks = calloc(BLOCKS, sizeof *blocks);
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = (unsigned char *)session_allocate(BLOCK);
    CHECK(blocks[i] != NULL);
    memset(blocks[i], mark, BLOCK);
  }
  for (int i = 0; i < BLOCKS; i++) {
    for (int j = 0; j < BLOCK; j++) {
      CHECK(blocks[i][j] == mark);
    }
  }
  free(blocks);
  return NULL;
}

static void shouldAllocateFromManyThreadsAndProcessesAtOnce(void) {
  create_session();
  uint64_t before = session->arena_next;
  pthread_t threads[ALLOCATORS];
  int child = fork();
  for (uintptr_t i = 0; i < ALLOCATORS; i++) {
    pthread_create(&threads[i], NULL, allocate_blocks, (void *)(child == 0 ? i + ALLOCATORS : i));
  }
  for (int i = 0; i < ALLOCATORS; i++) {
    pthread_join(threads[i], NULL);
  }
  if (child == 0) {
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(session->arena_next - before, 2LL * ALLOCATORS * BLOCKS * BLOCK + (long long)((sizeof(struct mdl_process) + 63) & ~63ULL));
}

static void shouldRecordTheEndOnceAndOnlyInItsOwnProcess(void) {
  create_session();
  int child = fork();
  if (child == 0) {
    exit(9); /* a related process, but not the session's */
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(WEXITSTATUS(status), 9);
  CHECK_EQUAL(session->state, MDL_STARTING);
  CHECK_EQUAL(session->exit_status, -1);
  session_ended(0x1234);
  CHECK_EQUAL(session->exit_status, 0x34);
  CHECK_EQUAL(session->state, MDL_ENDED);
  uint64_t end = session->end_real_nanos;
  CHECK(end > session->start_real_nanos);
  session_ended(0);
  CHECK_EQUAL(session->end_real_nanos, end);
}

static int looks;

static bool in_vain_at_the_third_look(void) { return ++looks == 3; }

static bool never_in_vain(void) {
  if (++looks == 5) {
    waiters_let_main_go();
  }
  return false;
}

static void shouldHoldMainForAsLongAsThatIsNotInVain(void) {
  CHECK(!waiters_hold_main(1, in_vain_at_the_third_look));
  CHECK_EQUAL(looks, 3);
  CHECK(!waiters_claim_main());
  looks = 0;
  CHECK(waiters_hold_main(1, never_in_vain));
  CHECK_EQUAL(looks, 5);
}

static void keepInScratch(void) {
  begin();
  snprintf(options.state_home, sizeof options.state_home, "%s", in_scratch("state"));
}

/* The file that is kept for a name. */
static const char *kept_of(const char *name) {
  static char path[512];
  const char *directory = in_scratch("state/mdl/images");
  size_t length = strlen(name);
  DIR *entries = opendir(directory);
  for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
    if (strncmp(entry->d_name, name, length) == 0 && entry->d_name[length] == '-') {
      snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    }
  }
  closedir(entries);
  return path;
}

static const char *kept(void) { return kept_of("0a"); }

static void shouldKeepFactsForTheirUserAlone(void) {
  keepInScratch();
  char bytes[16] = "";
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), -ENOENT);
  CHECK_EQUAL(image_cache_write("0a", "one", 4), 0);
  CHECK_EQUAL(image_cache_write("0a", "another", 8), 0);
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), 8);
  CHECK_TEXT(bytes, "another");
  CHECK_EQUAL(image_cache_read("0a", NULL, 0), 8);
  CHECK_EQUAL(image_cache_read("0b", bytes, sizeof bytes), -ENOENT);
  struct stat status;
  CHECK(stat(in_scratch("state/mdl/images"), &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0700);
  CHECK(stat(kept(), &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0600);
}

static void shouldUseNoFactsThatOthersMayHaveWritten(void) {
  keepInScratch();
  char bytes[16];
  CHECK_EQUAL(image_cache_write("0a", "one", 4), 0);
  CHECK(chmod(kept(), 0620) == 0);
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), -EPERM);
  CHECK(chmod(kept(), 0600) == 0);
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), 4);
  CHECK(chmod(in_scratch("state/mdl/images"), 0777) == 0);
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), -EPERM);
  CHECK_EQUAL(image_cache_write("0a", "two", 4), -EPERM);
  CHECK(chmod(in_scratch("state/mdl/images"), 0700) == 0);
  if (geteuid() == 0) {
    CHECK(chown(kept(), 12345, 0) == 0);
    CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), -EPERM);
  }
  const char *elsewhere = in_scratch("elsewhere");
  CHECK(rename(kept(), elsewhere) == 0 && symlink(elsewhere, kept()) == 0);
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), -ELOOP);
}

static void shouldNameNoOtherFileThanOneOfFacts(void) {
  keepInScratch();
  char bytes[16];
  CHECK_EQUAL(image_cache_write("", "one", 4), -EINVAL);
  CHECK_EQUAL(image_cache_write("../0a", "one", 4), -EINVAL);
  CHECK_EQUAL(image_cache_read("0A", bytes, sizeof bytes), -EINVAL);
  options.state_home[0] = 0;
  CHECK_EQUAL(image_cache_write("0a", "one", 4), -ENOENT);
}

static void shouldRemoveTheOldestOfTooManyFacts(void) {
  keepInScratch();
  char bytes[16], name[16];
  for (int i = 0; i <= IMAGE_CACHE_FILES; i++) {
    snprintf(name, sizeof name, "%x", i);
    CHECK_EQUAL(image_cache_write(name, "one", 4), 0);
    struct timespec when[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
    CHECK(i == IMAGE_CACHE_FILES || utimensat(AT_FDCWD, kept_of(name), when, 0) == 0);
  }
  CHECK_EQUAL(image_cache_read("0", bytes, sizeof bytes), -ENOENT);
  CHECK_EQUAL(image_cache_read("1", bytes, sizeof bytes), 4);
}

static void shouldKeepNothingWhereThereIsNoRoom(void) {
  keepInScratch();
  char bytes[16];
  CHECK_EQUAL(image_cache_write("0a", "one", 4), 0);
  static char large[4096];
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {1000, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK_EQUAL(image_cache_write("0a", large, sizeof large), -EFBIG);
  CHECK_EQUAL(image_cache_read("0a", bytes, sizeof bytes), 4);
}

TESTS({"shouldKeepFactsForTheirUserAlone", shouldKeepFactsForTheirUserAlone},
      {"shouldUseNoFactsThatOthersMayHaveWritten", shouldUseNoFactsThatOthersMayHaveWritten},
      {"shouldNameNoOtherFileThanOneOfFacts", shouldNameNoOtherFileThanOneOfFacts},
      {"shouldRemoveTheOldestOfTooManyFacts", shouldRemoveTheOldestOfTooManyFacts},
      {"shouldKeepNothingWhereThereIsNoRoom", shouldKeepNothingWhereThereIsNoRoom},
      {"shouldHoldMainForAsLongAsThatIsNotInVain", shouldHoldMainForAsLongAsThatIsNotInVain},
      {"shouldCreateDirectoryLogAndLinkToAFileOfTheUserAlone", shouldCreateDirectoryLogAndLinkToAFileOfTheUserAlone},
      {"shouldMakeWhatItsUserCanUseWhateverTheUmask", shouldMakeWhatItsUserCanUseWhateverTheUmask},
      {"shouldMakeAFileThatItsUserDoesNotTruncate", shouldMakeAFileThatItsUserDoesNotTruncate},
      {"shouldOpenNoFileButItsOwn", shouldOpenNoFileButItsOwn},
      {"shouldNotWriteItsLogToAPipe", shouldNotWriteItsLogToAPipe},
      {"shouldTakeADirectoryBelowWhenTheGivenOneHasASession", shouldTakeADirectoryBelowWhenTheGivenOneHasASession},
      {"shouldUseTheStateDirectoryWhenNoneIsGiven", shouldUseTheStateDirectoryWhenNoneIsGiven},
      {"shouldFallBackToTheLastResortAndSaySo", shouldFallBackToTheLastResortAndSaySo},
      {"shouldCreateNothingAsRootInAnotherUsersDirectory", shouldCreateNothingAsRootInAnotherUsersDirectory},
      {"shouldRefuseAMemoryDirectoryThatOthersCanEnter", shouldRefuseAMemoryDirectoryThatOthersCanEnter},
      {"shouldNotFollowALinkInPlaceOfTheMemoryDirectory", shouldNotFollowALinkInPlaceOfTheMemoryDirectory},
      {"shouldPutTheFileIntoTheSessionsDirectoryWhenMemoryIsFull",
       shouldPutTheFileIntoTheSessionsDirectoryWhenMemoryIsFull},
      {"shouldStepAsideWhenThereIsNoRoomAtAll", shouldStepAsideWhenThereIsNoRoomAtAll},
      {"shouldTakeAtMostHalfOfWhatIsFree", shouldTakeAtMostHalfOfWhatIsFree},
      {"shouldLeaveTheMemoryToOthersWhenEndedSessionsHaveTheirShareOfIt",
       shouldLeaveTheMemoryToOthersWhenEndedSessionsHaveTheirShareOfIt},
      {"shouldRefuseAllocationsWhenMemoryRunsOutLater", shouldRefuseAllocationsWhenMemoryRunsOutLater},
      {"shouldHonourTheLimitOfFileSizes", shouldHonourTheLimitOfFileSizes},
      {"shouldAllocateAlignedZeroedDisjointMemoryAndGrow", shouldAllocateAlignedZeroedDisjointMemoryAndGrow},
      {"shouldRefuseWhatIsBeyondTheLimitAndGoOnWithLess", shouldRefuseWhatIsBeyondTheLimitAndGoOnWithLess},
      {"shouldAllocateFromManyThreadsAndProcessesAtOnce", shouldAllocateFromManyThreadsAndProcessesAtOnce},
      {"shouldRecordTheEndOnceAndOnlyInItsOwnProcess", shouldRecordTheEndOnceAndOnlyInItsOwnProcess})
