/* Memory locks: the program's are the same as without the agent, and the agent's memory has none. */
#include "code/code.h"
#include "fixture.h"
#include "os/own_memory.h"
#include "os/sys.h"
#include "process/memory_locks.h"
#include "process/threads.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { BYTES = 1 << 20 };

static char *own_bytes; /* not a variable of the test, because the shim is part of the test */

/* A line of /proc/self/smaps about the mapping that contains an address. */
static void smaps_line(const void *address, const char *name, char *out, size_t size) {
  char line[512];
  bool found = false;
  *out = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file)) {
    unsigned long start, end;
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
      found = (uintptr_t)address >= start && (uintptr_t)address < end;
    } else if (found && strncmp(line, name, strlen(name)) == 0) {
      snprintf(out, size, "%s", line);
    }
  }
  fclose(file);
}

static bool is_locked(const void *address) {
  char line[512];
  smaps_line(address, "VmFlags:", line, sizeof line);
  CHECK(line[0]);
  return strstr(line, " lo") != NULL;
}

static long resident_kib(void *address) {
  enum { PAGE = 4096 };
  unsigned char pages[BYTES / PAGE];
  long count = 0;
  CHECK_EQUAL(mincore(address, BYTES, pages), 0);
  for (size_t i = 0; i < sizeof pages; i++) {
    count += pages[i] & 1;
  }
  return count * (PAGE >> 10);
}

static long status_kib(const char *name) {
  char line[512];
  long value = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, name, strlen(name)) == 0) {
      value = atol(line + strlen(name) + 1);
    }
  }
  fclose(file);
  return value;
}

static void *map(void) {
  void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

static void *map_own(int protection) {
  void *memory = own_memory_map(NULL, BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, INHERITED);
  CHECK(memory != MAP_FAILED);
  return memory;
}

/* Without CAP_IPC_LOCK the limit applies. */
static void obey_limit(rlim_t bytes) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  struct rlimit limit;
  CHECK_EQUAL(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
  CHECK_EQUAL(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
  CHECK_EQUAL(syscall(SYS_capget, &header, data), 0);
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  /* Hidden from the shim, which would take the process for one that confines itself. */
  CHECK_EQUAL(raw_syscall(SYS_capset, &header, data), 0);
}

static void need_to_lock(void) {
  own_bytes = map();
  if (mlock(own_bytes, BYTES) != 0) {
    skip("memory cannot be locked here");
  }
  CHECK_EQUAL(munlock(own_bytes, BYTES), 0);
}

static void shouldLockTheProgramsMemoryAlone(void) {
  need_to_lock();
  create_session();
  char *agents = map_own(PROT_READ | PROT_WRITE), *programs = map();
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT), 0);
  CHECK(is_locked(own_bytes));
  CHECK(is_locked(programs));
  CHECK_EQUAL(resident_kib(programs), BYTES >> 10);
  CHECK(!is_locked(session));
  CHECK(!is_locked((void *)code_text_alias()));
  CHECK(!is_locked(agents));
  CHECK_EQUAL(resident_kib(agents), 0);
  CHECK(status_kib("VmLck:") < (long)(session->limit >> 10));
  CHECK_EQUAL(memory_unlock_all(), 0);
  CHECK_EQUAL(status_kib("VmLck:"), 0);
}

static void shouldLockOnFaultWhereTheProgramAsksForIt(void) {
  need_to_lock();
  create_session();
  char *programs = map();
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT | MCL_ONFAULT), 0);
  CHECK(is_locked(programs));
  CHECK_EQUAL(resident_kib(programs), 0);
  CHECK(!is_locked(session));
}

static void shouldNotLockWhatTheAgentMapsLater(void) {
  need_to_lock();
  create_session();
  CHECK_EQUAL(memory_lock_all(MCL_FUTURE), 0);
  char *agents = map_own(PROT_READ | PROT_WRITE), *reserved = map_own(PROT_NONE), *programs = map();
  CHECK(is_locked(programs));
  CHECK_EQUAL(resident_kib(programs), BYTES >> 10);
  CHECK(!is_locked(agents));
  CHECK_EQUAL(resident_kib(agents), 0);
  agents[BYTES / 2] = 1;
  CHECK(!is_locked(reserved));
  CHECK(!is_locked(own_bytes));
  /* Part of a reservation comes into use, as the JVM's heap does. */
  char *used = own_memory_map(reserved, BYTES / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, INHERITED);
  CHECK(used == reserved);
  CHECK(!is_locked(used));
  used[0] = 1;
}

static void shouldLockNoMoreInTheFutureWhenTheProgramLocksThePresentAlone(void) {
  need_to_lock();
  create_session();
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT | MCL_FUTURE), 0);
  CHECK(own_memory_is_future_locked());
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT), 0);
  CHECK(!own_memory_is_future_locked());
  CHECK(is_locked(own_bytes));
  CHECK(!is_locked(map()));
}

/* They are requested by system call number. */
static void shouldKnowLocksByTheSystemCall(void) {
  need_to_lock();
  create_session();
  CHECK_EQUAL(syscall(SYS_mlockall, MCL_CURRENT), 0);
  CHECK(is_locked(own_bytes));
  CHECK(!is_locked(session));
  CHECK_EQUAL(syscall(SYS_munlockall), 0);
  CHECK(!is_locked(own_bytes));
}

static void shouldSucceedAndFailByTheProgramsOwnSize(void) {
  own_bytes = map();
  create_session();
  long mapped = status_kib("VmSize:") << 10;
  CHECK((uint64_t)mapped > session->limit);
  obey_limit((rlim_t)session->limit / 2);
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT), 0);
  CHECK(is_locked(own_bytes));
  CHECK_EQUAL(memory_unlock_all(), 0);
  obey_limit(BYTES);
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT), -1);
  CHECK_EQUAL(errno, ENOMEM);
  CHECK(!is_locked(own_bytes));
  obey_limit(0);
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT), -1);
  CHECK_EQUAL(errno, EPERM);
}

static void shouldRefuseWhatTheKernelRefuses(void) {
  create_session();
  static const int wrong[] = {0, MCL_ONFAULT, 8, MCL_CURRENT | 8};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    errno = 0;
    CHECK_EQUAL(memory_lock_all(wrong[i]), -1);
    CHECK_EQUAL(errno, EINVAL);
  }
}

static void shouldLockNothingInAForkedChild(void) {
  need_to_lock();
  create_session();
  CHECK_EQUAL(memory_lock_all(MCL_CURRENT | MCL_FUTURE), 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(!own_memory_is_future_locked());
    CHECK(!is_locked(own_bytes));
    CHECK_EQUAL(memory_lock_all(MCL_CURRENT), 0);
    CHECK(is_locked(own_bytes));
    CHECK(!is_locked(session));
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

/* A child may itself have mapped memory at the addresses of the agent's. */
static void shouldLockInAForkedChildWhatItHasMappedInPlaceOfTheAgents(void) {
  need_to_lock();
  create_session();
  void *stays = own_memory_map(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, STAYS);
  CHECK(stays != MAP_FAILED);
  CHECK_EQUAL(madvise(stays, BYTES, MADV_DONTFORK), 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(mmap(stays, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == stays);
    CHECK_EQUAL(memory_lock_all(MCL_CURRENT), 0);
    CHECK(is_locked(stays));
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

static void shouldKnowWhatIsLeftOfMemoryThatIsGivenBackInPart(void) {
  create_session();
  uint64_t at = (uintptr_t)map_own(PROT_NONE);
  CHECK_EQUAL(own_memory_unmap((void *)(at + BYTES / 4), BYTES / 2), 0);
  CHECK(own_memory_has(at, at + BYTES / 4));
  CHECK(!own_memory_has(at + BYTES / 4, at + BYTES / 4 * 3));
  CHECK(own_memory_has(at + BYTES / 4 * 3, at + BYTES));
  struct span gap = own_memory_gap(at, at + BYTES);
  CHECK_EQUAL(gap.start, at + BYTES / 4);
  CHECK_EQUAL(gap.end, at + BYTES / 4 * 3);
}

static void *do_nothing(void *pointer) { return pointer; }

/* An arena would be 64 MiB of locked addresses. */
static void shouldTakeNoArenaForAThreadThatAllocatesNothing(void) {
  enum { THREADS = 8, ARENA_KIB = 64 << 10 };
  pthread_t threads[THREADS];
  create_session();
  long before = status_kib("VmSize:");
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], &attributes, do_nothing, NULL), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
  CHECK(status_kib("VmSize:") < before + ARENA_KIB);
}

TESTS({"shouldLockTheProgramsMemoryAlone", shouldLockTheProgramsMemoryAlone},
      {"shouldLockOnFaultWhereTheProgramAsksForIt", shouldLockOnFaultWhereTheProgramAsksForIt},
      {"shouldNotLockWhatTheAgentMapsLater", shouldNotLockWhatTheAgentMapsLater},
      {"shouldLockNoMoreInTheFutureWhenTheProgramLocksThePresentAlone",
       shouldLockNoMoreInTheFutureWhenTheProgramLocksThePresentAlone},
      {"shouldKnowLocksByTheSystemCall", shouldKnowLocksByTheSystemCall},
      {"shouldSucceedAndFailByTheProgramsOwnSize", shouldSucceedAndFailByTheProgramsOwnSize},
      {"shouldRefuseWhatTheKernelRefuses", shouldRefuseWhatTheKernelRefuses},
      {"shouldLockNothingInAForkedChild", shouldLockNothingInAForkedChild},
      {"shouldLockInAForkedChildWhatItHasMappedInPlaceOfTheAgents", shouldLockInAForkedChildWhatItHasMappedInPlaceOfTheAgents},
      {"shouldKnowWhatIsLeftOfMemoryThatIsGivenBackInPart", shouldKnowWhatIsLeftOfMemoryThatIsGivenBackInPart},
      {"shouldTakeNoArenaForAThreadThatAllocatesNothing", shouldTakeNoArenaForAThreadThatAllocatesNothing})
