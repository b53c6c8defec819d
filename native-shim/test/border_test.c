/*
 * A process that gives up privileges and is then taken over: it writes to everything that it has mapped.
 * Related processes must not notice. Runs as root, because other users have no privileges to give up; seccomp
 * and no_new_privs as any user.
 */
#include "agent/ready.h"
#include "code/code.h"
#include "fixture.h"
#include "record/apart_calls.h"
#include "record/record.h"
#include "session/apart.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/life.h"
#include "session/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { PAGE = 4096, RET = 0xC3, EVIL = 0xCC, NOBODY = 65534, CHILDREN = 80 };
#define KEY(level) (0x7fff00000000ULL - 0x100 * (uint64_t)(level))

static uint8_t *page; /* executable, and its copy */
static uint8_t *alias;

/* As the agent makes it: text with a site, replaced by a copy. */
static void family(void) {
  fixture(true);
  CHECK(kin_meet());
  page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  memset(page, RET, PAGE);
  int64_t at = code_copy((uintptr_t)page, PAGE, 0);
  CHECK(at > 0);
  alias = (uint8_t *)at;
  CHECK_EQUAL(code_show((uintptr_t)page, PAGE, (uint64_t)at), 0);
  entry_of(0)->store = (uint64_t)at;
  entry_of(0)->off = RET;
  record_entry_slow(entry_of(0), address_of(0), KEY(1));
}

static void need_root(void) {
  if (geteuid() != 0) {
    skip("only root has rights to give up");
  }
}

/* ---- what an attacker does */

static void scribble(void) {
  memset(alias, EVIL, PAGE);
  entry_of(0)->store = EVIL;
  functions[0].index = EVIL;
  ((struct mdl_thread *)session->threads)->rows = EVIL;
  session->functions = EVIL;
  kin->session = EVIL;
}

/* Finds each shared mapping of one of our files, under any name, except the file that belongs to this
 * process alone. */
static void look_for_shared(void) {
  char line[512], own[32];
  snprintf(own, sizeof own, "-%d.apart\n", getpid());
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps)) {
    char rights[5] = "";
    CHECK_EQUAL(sscanf(line, "%*x-%*x %4s", rights), 1);
    if (rights[3] == 's' && !strstr(line, own)) {
      fprintf(stderr, "%s", line);
      _exit(1);
    }
  }
  fclose(maps);
  for (int file = 3; file < 64; file++) {
    char link[64], to[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    CHECK(readlink(link, to, sizeof to - 1) < 0 || (!strstr(to, "mdl-text") && !strstr(to, ".mdl") && !strstr(to, ".apart")));
  }
}

/* A process may change the permissions of its mappings, within those of the file. */
static void ask_for_more(void) {
  CHECK_EQUAL(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
  memset(page, EVIL, PAGE);
  void *second = mremap(session, 0, PAGE, MREMAP_MAYMOVE);
  if (second != MAP_FAILED) {
    memset(second, EVIL, PAGE);
  }
  syscall(SYS_remap_file_pages, page, PAGE, 0, 0, 0);
}

static bool goes_on(void) {
  return page[0] == RET && alias[0] == RET && entry_of(0)->store == (uintptr_t)alias && functions[0].index == 0 &&
         session->functions == (uintptr_t)functions && kin->session != EVIL &&
         ((struct mdl_thread *)session->threads)->rows != EVIL;
}

/* ---- ways to give up privileges */

static bool by_setuid(void) { return setuid(NOBODY) == 0; }
static bool by_setreuid(void) { return setreuid(NOBODY, NOBODY) == 0; }
static bool by_setresuid(void) { return setgroups(0, NULL) + setresgid(NOBODY, NOBODY, NOBODY) + setresuid(NOBODY, NOBODY, NOBODY) == 0; }
static bool by_system_call(void) { return syscall(SYS_setresuid, (long)NOBODY, (long)NOBODY, (long)NOBODY) == 0; }
static bool by_saved_id(void) { return seteuid(NOBODY) == 0 && setresuid(NOBODY, NOBODY, 0) == 0 && setresuid(-1U, -1U, NOBODY) == 0; }
static bool by_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; }
static bool by_strict_seccomp(void) { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0; }
static bool by_strict_system_call(void) { return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0L, NULL) == 0; }
static bool by_root(void) { return chroot("/proc") == 0; }
static bool by_namespace(void) { return unshare(CLONE_NEWNET) == 0; }
static bool by_bounding_set(void) { return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0; }

int capset(cap_user_header_t, const cap_user_data_t);

static bool by_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  return capset(&header, none) == 0;
}

static bool by_landlock(void) {
  struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
  long set = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (set < 0) {
    skip("there is no Landlock here");
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, set, 0) == 0;
}

static void *become_nobody(void *unused) { return by_setresuid() ? unused : &page; }

static bool by_thread_that_ends(void) {
  pthread_t thread;
  return pthread_create(&thread, NULL, become_nobody, NULL) == 0 && pthread_join(thread, NULL) == 0 && geteuid() == NOBODY;
}

static int confine_child(bool (*way)(void), bool may_look) {
  family();
  pid_t child = fork();
  if (child == 0) {
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    if (!way()) {
      _exit(9);
    }
    scribble();
    if (!may_look) {
      syscall(SYS_exit, 3L);
    }
    look_for_shared();
    ask_for_more();
    _exit(3);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* With a file for its calls, or without. */
static void cross(bool (*way)(void), bool may_look, bool seen) {
  scratch_stays = seen;
  int status = confine_child(way, may_look);
  if (status == 3) {
    apart_calls_take(true);
  }
  if (seen) {
    remove_scratch();
  }
  if (status == SKIPPED) {
    _exit(SKIPPED);
  }
  CHECK_EQUAL(status, 3);
  CHECK(goes_on());
  CHECK_EQUAL(session->processes_apart + session->apart_files, 1);
  CHECK(seen || session->processes_apart == 1);
  CHECK_EQUAL(session->children, 0);
}

static void cross_both_ways(bool (*way)(void), bool may_look) {
  for (int seen = 0; seen < 2; seen++) {
    int status;
    pid_t process = fork();
    if (process == 0) {
      cross(way, may_look, seen);
      _exit(0);
    }
    CHECK_EQUAL(waitpid(process, &status, 0), process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
      skip("see above");
    }
    CHECK_EQUAL(status, 0);
  }
}

#define CROSSES(name, way, root, may_look)       \
  static void name(void) {                       \
    if (root) {                                  \
      need_root();                               \
    }                                            \
    cross_both_ways(way, may_look);              \
  }

CROSSES(shouldNotExecuteWhatAnotherUserWritesBySetuid, by_setuid, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesBySetreuid, by_setreuid, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesBySetresuid, by_setresuid, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesBySystemCall, by_system_call, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesByItsSavedId, by_saved_id, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesByAnyThread, by_thread_that_ends, true, true)
CROSSES(shouldNotExecuteWhatAProcessWithoutNewPrivilegesWrites, by_no_new_privileges, false, true)
CROSSES(shouldNotExecuteWhatAStrictlyConfinedProcessWrites, by_strict_seccomp, false, false)
CROSSES(shouldNotExecuteWhatAProcessConfinedBySystemCallWrites, by_strict_system_call, false, false)
CROSSES(shouldNotExecuteWhatAProcessWithAnotherRootWrites, by_root, true, false)
CROSSES(shouldNotExecuteWhatAProcessInAnotherNamespaceWrites, by_namespace, true, true)
CROSSES(shouldNotExecuteWhatAProcessWithoutCapabilitiesWrites, by_capabilities, true, true)
CROSSES(shouldNotExecuteWhatAProcessThatCannotGetCapabilitiesWrites, by_bounding_set, true, true)
CROSSES(shouldNotExecuteWhatALandlockedProcessWrites, by_landlock, false, true)

/* ---- what is counted after the crossing */

static int wait_for_end(pid_t child) {
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static uint64_t sum_of_calls(int function) {
  uint64_t calls = 0;
  for (struct mdl_thread *at = block_newest(); at; at = block_after(at)) {
    calls += ((uint64_t *)at->calls)[function];
  }
  return calls;
}

static struct mdl_row sum_of_rows(int function) {
  struct mdl_row sum = {.min = ~0ULL};
  for (struct mdl_thread *at = block_newest(); at; at = block_after(at)) {
    const struct mdl_row *row = ((struct mdl_row **)at->rows)[function];
    if (row) {
      sum.count += row->count;
      sum.total += row->total;
      sum.min = row->min < sum.min ? row->min : sum.min;
      sum.max = row->max > sum.max ? row->max : sum.max;
      for (int i = 0; i < (int)MDL_ROW_CHUNKS; i++) {
        const uint64_t *chunk = (const uint64_t *)row->chunks[i];
        for (int k = 0; chunk && k < (int)MDL_CHUNK_SLOTS; k++) {
          sum.chunks[0] += chunk[k];
        }
      }
    }
  }
  return sum;
}

static void *call(void *times) {
  for (int i = 0; i < (int)(intptr_t)times; i++) {
    record_entry_slow(entry_of(1), address_of(1), KEY(1));
    record_exit_slow(exit_of(1), address_of(1), KEY(1), 0);
  }
  return NULL;
}

static bool has_file(pid_t process) {
  char path[APART_NAME + 128];
  snprintf(path, sizeof path, "%s/mdl-0/%s-%d.apart", scratch, session->id, process);
  return access(path, F_OK) == 0;
}

/* A session whose directory stays, so that a process can create a file there. */
static void family_with_files(void) {
  need_root();
  scratch_stays = true;
  family();
}

static void shouldCountWhatAProcessCallsThatHasGivenUpRights(void) {
  family_with_files();
  int pipes[2][2];
  CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  pid_t child = fork();
  if (child == 0) {
    call((void *)10);
    CHECK(by_setresuid());
    call((void *)1000);
    pthread_t thread; /* a later thread has a block as well */
    CHECK(pthread_create(&thread, NULL, call, (void *)100) == 0 && pthread_join(thread, NULL) == 0);
    char byte = 0;
    CHECK(write(pipes[0][1], &byte, 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
    call((void *)5);
    syscall(SYS_exit_group, 3L);
  }
  close(pipes[0][1]);
  char byte;
  bool counted = read(pipes[0][0], &byte, 1) == 1;
  apart_calls_take(true);
  uint64_t meanwhile = sum_of_calls(1);
  bool had_file = has_file(child);
  bool told = write(pipes[1][1], "", 1) == 1;
  int status = wait_for_end(child);
  CHECK_EQUAL(session->children, 1); /* the agent has not looked */
  apart_calls_take(true);
  bool has_one = has_file(child);
  remove_scratch();
  CHECK(counted && told);
  CHECK_EQUAL(status, 3);
  CHECK_EQUAL(meanwhile, 1110);
  CHECK(had_file && !has_one);
  CHECK_EQUAL(sum_of_calls(1), 1115);
  struct mdl_row row = sum_of_rows(1);
  CHECK_EQUAL(row.count, 1115);
  CHECK_EQUAL(row.chunks[0], 1115);
  CHECK(row.min <= row.max && row.max <= row.total);
  CHECK_EQUAL(session->processes_apart, 0);
  CHECK_EQUAL(session->children, 0);
  CHECK_EQUAL(owner_is_gone(((struct mdl_process *)session->processes)->owner), true);
}

/* Its blocks then belong to others, with the counts in them. */
static void shouldHandOnTheBlocksOfOneThatWasCounted(void) {
  family_with_files();
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      call((void *)1);
      if (!by_setresuid()) {
        _exit(9);
      }
      call((void *)2);
      syscall(SYS_exit_group, 3L);
    }
    CHECK_EQUAL(wait_for_end(child), 3);
    apart_calls_take(true);
    CHECK(!has_file(child));
  }
  remove_scratch();
  CHECK_EQUAL(sum_of_calls(1), 3 * CHILDREN);
  CHECK_EQUAL(sum_of_rows(1).count, 3 * CHILDREN);
  CHECK(session->thread_count < 2 * CHILDREN);
}

static int looked[2];

static void *call_late(void *unused) {
  char byte;
  CHECK(read(looked[0], &byte, 1) == 1);
  call((void *)100);
  syscall(SYS_exit_group, 3L);
  return unused;
}

static void shouldCountAProcessWhoseMainHasEnded(void) {
  family_with_files();
  int pipe_of_child[2];
  CHECK(pipe(pipe_of_child) == 0 && pipe(looked) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call_late, NULL) == 0);
    family_leader_ends();
    apart_leader_ends();
    CHECK(write(pipe_of_child[1], "", 1) == 1);
    syscall(SYS_exit, 0L);
  }
  char byte;
  bool ended = read(pipe_of_child[0], &byte, 1) == 1;
  apart_calls_take(true);
  int children = (int)session->children;
  bool told = write(looked[1], "", 1) == 1;
  int status = wait_for_end(child);
  apart_calls_take(true);
  remove_scratch();
  CHECK(ended && told);
  CHECK_EQUAL(children, 1);
  CHECK_EQUAL(status, 3);
  CHECK_EQUAL(sum_of_calls(1), 100);
  CHECK_EQUAL(session->children, 0);
}

static void shouldSayWhatIsNotCounted(void) {
  family_with_files();
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    call((void *)1);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      call((void *)1000);
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, call, (void *)1000) == 0 && pthread_join(thread, NULL) == 0);
      syscall(SYS_exit_group, 4L);
    }
    CHECK_EQUAL(wait_for_end(grandchild), 4);
    call((void *)1);
    syscall(SYS_exit_group, 3L);
  }
  int status = wait_for_end(child);
  apart_calls_take(true);
  remove_scratch();
  CHECK_EQUAL(status, 3);
  CHECK_EQUAL(sum_of_calls(1), 2);
  CHECK_EQUAL(session->processes_apart, 1);
}

/* Durations when the file is full, and a second thread without a spare block. */
static void shouldSayWhatFoundNoRoomInTheFile(void) {
  family_with_files();
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    for (uint64_t bytes = APART_ROOM / 2; bytes >= 64; bytes /= 2) {
      while (apart_allocate(bytes)) {
      }
    }
    call((void *)10); /* its first calls: main takes the spare block */
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call, (void *)1000) == 0 && pthread_join(thread, NULL) == 0);
    syscall(SYS_exit_group, 3L);
  }
  int status = wait_for_end(child);
  apart_calls_take(true);
  remove_scratch();
  CHECK_EQUAL(status, 3);
  CHECK_EQUAL(sum_of_calls(1), 10);
  CHECK_EQUAL(sum_of_rows(1).count, 0);
  uint64_t refused = 0;
  for (struct mdl_thread *at = block_newest(); at; at = block_after(at)) {
    refused += at->refused;
  }
  CHECK_EQUAL(refused, 10);
  CHECK_EQUAL(session->threads_refused, 1);
}

/* ---- what it can still write */

static uint64_t random_state;

static uint64_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* A plausible or implausible word: small numbers, offsets in the file, large numbers. */
static uint64_t foreign_word(const struct apart *head) {
  uint64_t word = random_word();
  switch (word >> 61) {
    case 0: return word & 7;
    case 1:
    case 2:
    case 3: return (uintptr_t)head + (word & (APART_ROOM - 8));
    case 4: return (uintptr_t)session + (word & 0xfff8);
    case 5: return word & 0xffffffff;
    default: return word;
  }
}

static void fill_with_foreign_words(struct apart *head, uint64_t bytes, int words) {
  for (int i = 0; i < words; i++) {
    bool in_tables = random_word() & 1; /* there is more room than tables */
    uint64_t from = in_tables ? APART_ROOM : sizeof *head, to = in_tables ? bytes : APART_ROOM;
    *(uint64_t *)((char *)head + from + random_word() % (to - from) / 8 * 8) = foreign_word(head);
  }
  head->base = random_word() & 3 ? (uintptr_t)head : random_word();
  head->next = random_word() & 3 ? APART_ROOM : random_word();
  head->threads_refused = (uint32_t)random_word();
  head->forks = (uint32_t)random_word();
  uint64_t table = apart_table_bytes(FUNCTIONS);
  for (uint64_t rows = APART_ROOM + table / 2; rows < APART_ROOM + 2 * table; rows += table) {
    for (uint32_t i = 0; i < FUNCTIONS; i++) { /* overlapping rows, and one row for several functions */
      *(uint64_t *)((char *)head + rows + 8 * i) = (uintptr_t)head + sizeof *head + (random_word() & 0xff8);
    }
  }
}

static struct apart *own_file(uint64_t *bytes) {
  uint64_t start, end;
  char line[512], own[32], rights[5];
  FILE *maps = fopen("/proc/self/maps", "r");
  snprintf(own, sizeof own, "-%d.apart\n", getpid());
  while (maps && fgets(line, sizeof line, maps)) {
    if (strstr(line, own) && sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, rights) == 3) {
      fclose(maps);
      *bytes = end - start;
      return (struct apart *)start;
    }
  }
  return NULL;
}

static uint64_t all_calls(void) {
  uint64_t calls = 0;
  for (int i = 0; i < FUNCTIONS; i++) {
    calls += sum_of_calls(i);
  }
  return calls;
}

/* Invariants of the master and of readers: nothing falls, and nothing exceeds what the time allows. */
static void check_sanity(uint64_t memory_before) {
  static uint64_t calls_before;
  uint64_t calls = all_calls(), ticks = __builtin_ia32_rdtsc() - session->start_tsc;
  CHECK(calls >= calls_before && calls <= 2 * ticks + 10);
  calls_before = calls;
  CHECK(session->arena_next - memory_before <= 2 * APART_ROOM);
  CHECK(goes_on());
  for (int i = 0; i < FUNCTIONS; i++) {
    struct mdl_row row = sum_of_rows(i);
    CHECK(row.max <= ticks && (row.min <= row.max || row.min == ~0ULL));
    CHECK(row.total < 1ULL << 60 && row.count < 1ULL << 60 && row.chunks[0] < 1ULL << 60);
  }
}

/* It writes at any moment, and removes pages. */
static void shouldStaySaneWhateverIsWrittenToItsFile(void) {
  family_with_files();
  enum { ROUNDS = 400 };
  pid_t child = fork();
  if (child == 0) {
    call((void *)1);
    CHECK(by_setresuid());
    uint64_t bytes;
    struct apart *head = own_file(&bytes);
    CHECK(head != NULL);
    for (random_state = 1;;) {
      fill_with_foreign_words(head, bytes, 4096);
      if ((random_word() & 15) == 0) {
        madvise((char *)head + APART_ROOM / 2, APART_ROOM / 4, MADV_REMOVE);
      }
    }
  }
  while (!session->apart_files) {
    sched_yield();
  }
  uint64_t memory = session->arena_next;
  for (int i = 0; i < ROUNDS; i++) {
    apart_calls_take(i % 3 != 0);
    check_sanity(memory);
  }
  kill(child, SIGKILL);
  CHECK_EQUAL(waitpid(child, NULL, 0), child);
  apart_calls_take(true);
  bool has_one = has_file(child);
  remove_scratch();
  check_sanity(memory);
  CHECK(!has_one);
  CHECK(session->threads_refused <= 1000 * (ROUNDS + 1));
}

/* The same, step by step. */
static void shouldTakeNothingFromAFileThatCannotBe(void) {
  family_with_files();
  enum { ROUNDS = 3000 };
  pid_t child = fork();
  if (child == 0) {
    call((void *)1);
    CHECK(by_setresuid());
    pause();
  }
  char path[APART_NAME + 128];
  struct stat status;
  while (!session->apart_files) {
    sched_yield();
  }
  snprintf(path, sizeof path, "%s/mdl-0/%s-%d.apart", scratch, session->id, child);
  int file = open(path, O_RDWR);
  CHECK(file >= 0 && fstat(file, &status) == 0);
  struct apart *head = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(head != MAP_FAILED);
  uint64_t memory = session->arena_next;
  random_state = 1;
  for (int i = 0; i < ROUNDS; i++) {
    fill_with_foreign_words(head, (uint64_t)status.st_size, 1 << (i % 12));
    apart_calls_take(i % 3 != 0);
    check_sanity(memory);
  }
  CHECK(ftruncate(file, 100) == 0); /* which the process could not do */
  apart_calls_take(true);
  check_sanity(memory);
  kill(child, SIGKILL);
  CHECK_EQUAL(waitpid(child, NULL, 0), child);
  apart_calls_take(true);
  remove_scratch();
  CHECK_EQUAL(session->children, 0);
}

/* It reports that it is gone. Others have its blocks, and it has its own file. */
static void shouldNotTouchTheBlocksThatItHasLost(void) {
  family_with_files();
  int pipes[2][2];
  CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    close(pipes[1][1]);
    CHECK(by_setresuid());
    uint64_t bytes;
    struct apart *head = own_file(&bytes);
    *(uint32_t *)head->owner = 0x40000000;
    CHECK(write(pipes[0][1], &byte, 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
    memset((char *)head + APART_ROOM, 1, bytes - APART_ROOM);
    syscall(SYS_exit_group, 3L);
  }
  CHECK_EQUAL(read(pipes[0][0], &byte, 1), 1);
  apart_calls_take(true);
  CHECK_EQUAL(session->children, 0);
  pid_t other = fork();
  if (other == 0) {
    call((void *)7);
    syscall(SYS_exit_group, 4L);
  }
  CHECK_EQUAL(wait_for_end(other), 4);
  CHECK_EQUAL(write(pipes[1][1], &byte, 1), 1);
  CHECK_EQUAL(wait_for_end(child), 3);
  apart_calls_take(true);
  remove_scratch();
  CHECK_EQUAL(sum_of_calls(1), 7);
}

/* Why it has a file of its own, rather than a part of the session's: the broken twin has such a part, and
 * through it the whole session. */
static void shouldHaveTheWholeOfAFileByAPartOfIt(void) {
  family_with_files();
  uint64_t part = session->limit - PAGE;
  pid_t child = fork();
  if (child == 0) {
    char *twin = mremap((char *)session + part, 0, PAGE, MREMAP_MAYMOVE);
    CHECK(twin != MAP_FAILED && by_setresuid());
    uint64_t at = (uintptr_t)&entry_of(0)->store - (uintptr_t)session;
    CHECK_EQUAL(syscall(SYS_remap_file_pages, twin, PAGE, 0, at / PAGE, 0), 0);
    *(uint64_t *)(twin + at % PAGE) = EVIL;
    uint64_t bytes;
    char *own = (char *)own_file(&bytes);
    CHECK(own != NULL);
    syscall(SYS_remap_file_pages, own, PAGE, 0, 1L, 0);
    void *more = mremap(own + PAGE, bytes - PAGE, 2 * bytes, MREMAP_MAYMOVE);
    CHECK(more == MAP_FAILED || more != NULL);
    syscall(SYS_exit_group, 3L);
  }
  int status = wait_for_end(child);
  remove_scratch();
  uint64_t store = entry_of(0)->store;
  entry_of(0)->store = (uintptr_t)alias; /* where the process writes when it ends */
  CHECK_EQUAL(status, 3);
  CHECK_EQUAL(store, EVIL);
}

/* ---- the rest of the family */

static void shouldHaveTheBlocksOfOneThatHasGoneAsThoughItWereKilled(void) {
  need_root();
  family();
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      record_entry_slow(entry_of(0), address_of(0), KEY(1));
      _exit(by_setresuid() ? 3 : 9);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(WEXITSTATUS(status), 3);
    CHECK_EQUAL(session->children, 0);
  }
  CHECK_EQUAL(session->processes_apart, CHILDREN);
  CHECK_EQUAL(((uint64_t *)mdl_self->calls)[0], 1);
  CHECK(session->thread_count < CHILDREN); /* others have taken some over */
  uint64_t calls = 0;
  for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
    calls += ((uint64_t *)at->calls)[0];
  }
  CHECK_EQUAL(calls, CHILDREN + 1);
}

static bool go_on(const int pipe[2]) { return write(pipe[1], "", 1) == 1; }

static bool wait_for(const int pipe[2]) {
  char byte;
  return read(pipe[0], &byte, 1) == 1;
}

/* So that it is not counted. */
static void make_no_files(void) {
  const struct rlimit none = {0, RLIM_INFINITY};
  CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &none), 0);
}

/* It writes nothing to its block between leaving and looking, like a thread that waits for requests. */
static void shouldKeepItsBlockWhenAnotherProcessHasTakenItOver(void) {
  need_root();
  scratch_stays = true; /* the session is mapped by its file, and shows what others write */
  family();
  int left[2], taken[2];
  CHECK(pipe(left) == 0 && pipe(taken) == 0);
  pid_t child = fork();
  if (child == 0) {
    close(taken[1]); /* so that it ends with its parent */
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    make_no_files();
    CHECK(by_setresuid());
    CHECK(go_on(left) && wait_for(taken));
    CHECK_EQUAL(mdl_self->tid, gettid());
    CHECK_EQUAL(mdl_self->process, (uintptr_t)family_self);
    CHECK_EQUAL(family_self->pid, getpid());
    _exit(3);
  }
  close(left[1]);
  bool has_left = wait_for(left);
  remove_scratch();
  CHECK(has_left);
  const struct mdl_thread *block = block_newest();
  CHECK_EQUAL(block->tid, child);
  session->thread_count += CHILDREN; /* so many that there is not one for each */
  pid_t other = fork();
  if (other == 0) {
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    CHECK(mdl_self == block && go_on(taken));
    pause();
  }
  close(taken[1]); /* so that nobody waits for one that has failed */
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  kill(other, SIGKILL);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
}

static void *record_once(void *unused) {
  record_entry_slow(entry_of(0), address_of(0), KEY(1));
  return unused;
}

static void record_in_children(int count) {
  for (int i = 0; i < count; i++) {
    pid_t child = fork();
    if (child == 0) {
      record_once(NULL);
      _exit(0);
    }
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
  }
}

/* Blocks are adjacent: the page of its own block has been copied, and the copy lacks what others add to the
 * page later. */
static void shouldTakeNoBlockThatOthersHaveMadeSince(void) {
  need_root();
  scratch_stays = true; /* see above */
  family();
  int pipes[2][2];
  CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  char byte = 0;
  record_in_children(58);
  pid_t apart = fork();
  if (apart == 0) {
    record_once(NULL);
    make_no_files();
    CHECK(by_setresuid());
    CHECK(write(pipes[0][1], &byte, 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, record_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
    _exit(3);
  }
  CHECK(read(pipes[0][0], &byte, 1) == 1);
  remove_scratch();
  record_in_children(CHILDREN);
  CHECK(write(pipes[1][1], &byte, 1) == 1);
  int status;
  CHECK_EQUAL(waitpid(apart, &status, 0), apart);
  CHECK_EQUAL(status, 3 << 8);
}

static void shouldGoOnWithProbesThatNobodySees(void) {
  need_root();
  family();
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    for (int i = 0; i < 1000; i++) {
      record_entry_slow(entry_of(1), address_of(1), KEY(1));
      record_exit_slow(exit_of(1), address_of(1), KEY(1), 0);
    }
    CHECK_EQUAL(((uint64_t *)mdl_self->calls)[1], 1000);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      record_entry_slow(entry_of(1), address_of(1), KEY(1));
      _exit(4);
    }
    int status;
    CHECK_EQUAL(waitpid(grandchild, &status, 0), grandchild);
    CHECK_EQUAL(WEXITSTATUS(status), 4);
    exit(3);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
    CHECK_EQUAL(((uint64_t *)at->calls)[1], 0);
  }
}

static void shouldStayWithIdsThatCanBeTakenBack(void) {
  need_root();
  family();
  pid_t child = fork();
  if (child == 0) {
    CHECK_EQUAL(setegid(NOBODY) + seteuid(NOBODY), 0);
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    CHECK_EQUAL(seteuid(0) + setegid(0), 0);
    CHECK_EQUAL(setresuid(0, 0, 0) + setuid(0) + setgid(0), 0);
    CHECK_EQUAL(((uint64_t *)mdl_self->calls)[0], 1);
    _exit(3);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(session->processes_apart, 0);
  CHECK_EQUAL(((uint64_t *)((struct mdl_thread *)session->threads)->calls)[0], 1);
}

static void shouldNotGoWithAVforkChild(void) {
  need_root();
  family();
  pid_t child = vfork();
  if (child == 0) {
    syscall(SYS_setuid, (long)NOBODY);
    _exit(setresuid(NOBODY, NOBODY, NOBODY) == 0 ? 3 : 9);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(session->processes_apart, 0);
  entry_of(0)->on = RET + 1;
  code_record(entry_of(0), true);
  CHECK_EQUAL(page[0], RET + 1);
}

/* The other way round: the process with the agent becomes nobody, and its child stays root. */
static void shouldNotBeHadByAnAgentThatHasBecomeNobody(void) {
  need_root();
  family();
  CHECK(kin_take_agent());
  int pipes[2][2];
  CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    close(pipes[1][1]);
    CHECK(write(pipes[0][1], &byte, 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
    _exit(goes_on() ? 3 : 9);
  }
  close(pipes[1][0]); /* so that the child ends with this process */
  CHECK_EQUAL(read(pipes[0][0], &byte, 1), 1);
  CHECK(by_setresuid());
  CHECK(agent_is_dead());
  scribble();
  look_for_shared();
  CHECK_EQUAL(write(pipes[1][1], &byte, 1), 1);
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
}

static void shouldKeepItsAgentWithoutRelatives(void) {
  need_root();
  family();
  CHECK(kin_take_agent());
  CHECK(by_setresuid());
  CHECK(!agent_is_dead());
  entry_of(0)->on = RET + 1;
  code_record(entry_of(0), true);
  CHECK_EQUAL(page[0], RET + 1);
}

/* A process that has not asked yet does not ask it any more. */
static void shouldHaveNoKinThatItHasBecomeAStrangerTo(void) {
  need_root();
  CHECK(kin_meet());
  process_start();
  atomic_fetch_add(&kin->early, 1);
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    kin->session = EVIL;
    _exit(kin->agent_pid == 0 && kin->early == 0 ? 3 : 9);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(kin->session, 0);
  CHECK_EQUAL(kin->unprobed, 1);
  CHECK(kin_take_agent());
  uint32_t *state = (uint32_t *)mremap(kin, 0, PAGE, MREMAP_MAYMOVE);
  const struct kin *before = (const struct kin *)state;
  CHECK(by_setresuid());
  CHECK(kin_has_agent());
  CHECK_EQUAL(kin->state, KIN_STARTING);
  CHECK_EQUAL(before->state, KIN_OVER);
}

TESTS({"shouldNotExecuteWhatAnotherUserWritesBySetuid", shouldNotExecuteWhatAnotherUserWritesBySetuid},
      {"shouldNotExecuteWhatAnotherUserWritesBySetreuid", shouldNotExecuteWhatAnotherUserWritesBySetreuid},
      {"shouldNotExecuteWhatAnotherUserWritesBySetresuid", shouldNotExecuteWhatAnotherUserWritesBySetresuid},
      {"shouldNotExecuteWhatAnotherUserWritesBySystemCall", shouldNotExecuteWhatAnotherUserWritesBySystemCall},
      {"shouldNotExecuteWhatAnotherUserWritesByItsSavedId", shouldNotExecuteWhatAnotherUserWritesByItsSavedId},
      {"shouldNotExecuteWhatAnotherUserWritesByAnyThread", shouldNotExecuteWhatAnotherUserWritesByAnyThread},
      {"shouldNotExecuteWhatAProcessWithoutNewPrivilegesWrites", shouldNotExecuteWhatAProcessWithoutNewPrivilegesWrites},
      {"shouldNotExecuteWhatAStrictlyConfinedProcessWrites", shouldNotExecuteWhatAStrictlyConfinedProcessWrites},
      {"shouldNotExecuteWhatAProcessConfinedBySystemCallWrites", shouldNotExecuteWhatAProcessConfinedBySystemCallWrites},
      {"shouldNotExecuteWhatAProcessWithAnotherRootWrites", shouldNotExecuteWhatAProcessWithAnotherRootWrites},
      {"shouldNotExecuteWhatAProcessInAnotherNamespaceWrites", shouldNotExecuteWhatAProcessInAnotherNamespaceWrites},
      {"shouldNotExecuteWhatAProcessWithoutCapabilitiesWrites", shouldNotExecuteWhatAProcessWithoutCapabilitiesWrites},
      {"shouldNotExecuteWhatAProcessThatCannotGetCapabilitiesWrites",
       shouldNotExecuteWhatAProcessThatCannotGetCapabilitiesWrites},
      {"shouldNotExecuteWhatALandlockedProcessWrites", shouldNotExecuteWhatALandlockedProcessWrites},
      {"shouldCountWhatAProcessCallsThatHasGivenUpRights", shouldCountWhatAProcessCallsThatHasGivenUpRights},
      {"shouldHandOnTheBlocksOfOneThatWasCounted", shouldHandOnTheBlocksOfOneThatWasCounted},
      {"shouldSayWhatIsNotCounted", shouldSayWhatIsNotCounted},
      {"shouldSayWhatFoundNoRoomInTheFile", shouldSayWhatFoundNoRoomInTheFile},
      {"shouldCountAProcessWhoseMainHasEnded", shouldCountAProcessWhoseMainHasEnded},
      {"shouldStaySaneWhateverIsWrittenToItsFile", shouldStaySaneWhateverIsWrittenToItsFile},
      {"shouldTakeNothingFromAFileThatCannotBe", shouldTakeNothingFromAFileThatCannotBe},
      {"shouldNotTouchTheBlocksThatItHasLost", shouldNotTouchTheBlocksThatItHasLost},
      {"shouldHaveTheWholeOfAFileByAPartOfIt", shouldHaveTheWholeOfAFileByAPartOfIt},
      {"shouldHaveTheBlocksOfOneThatHasGoneAsThoughItWereKilled", shouldHaveTheBlocksOfOneThatHasGoneAsThoughItWereKilled},
      {"shouldKeepItsBlockWhenAnotherProcessHasTakenItOver", shouldKeepItsBlockWhenAnotherProcessHasTakenItOver},
      {"shouldTakeNoBlockThatOthersHaveMadeSince", shouldTakeNoBlockThatOthersHaveMadeSince},
      {"shouldGoOnWithProbesThatNobodySees", shouldGoOnWithProbesThatNobodySees},
      {"shouldStayWithIdsThatCanBeTakenBack", shouldStayWithIdsThatCanBeTakenBack},
      {"shouldNotGoWithAVforkChild", shouldNotGoWithAVforkChild},
      {"shouldNotBeHadByAnAgentThatHasBecomeNobody", shouldNotBeHadByAnAgentThatHasBecomeNobody},
      {"shouldKeepItsAgentWithoutRelatives", shouldKeepItsAgentWithoutRelatives},
      {"shouldHaveNoKinThatItHasBecomeAStrangerTo", shouldHaveNoKinThatItHasBecomeAStrangerTo})
