/* The agent's threads: signals that they must not get, and how they end where the application wants to be
 * alone. */
#include "agent/events.h"
#include "agent/removal.h"
#include "fixture.h"
#include "os/agent_threads.h"
#include "os/self.h"
#include "process/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

/* thread_ended() works in the third round of destructors, and before those of keys created later. */
enum { LAST_ROUND = 3, MANY = 600 };

static pthread_key_t key;
static _Atomic bool seen;
static _Atomic int ending; /* the thread that the shim knows to be ending, and that still exists */

static void linger(void *round) {
  if ((uintptr_t)round < LAST_ROUND) {
    pthread_setspecific(key, (void *)((uintptr_t)round + 1));
    return;
  }
  atomic_store(&ending, (int)syscall(SYS_gettid));
  while (!seen) {
    usleep(100);
  }
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void *end_slowly(void *unused) {
  pthread_setspecific(key, (void *)1);
  return unused;
}

static void *end_at_once(void *unused) {
  atomic_store(&ending, (int)syscall(SYS_gettid));
  return unused;
}

_Noreturn static void *stay(void *unused) {
  (void)unused;
  atomic_store(&ending, (int)syscall(SYS_gettid));
  for (;;) {
    pause();
  }
}

_Noreturn static void *compute(void *unused) {
  (void)unused;
  atomic_store(&ending, (int)syscall(SYS_gettid));
  for (;;) {
    atomic_signal_fence(memory_order_seq_cst);
  }
}

static bool is_there(int tid) { return syscall(SYS_tgkill, getpid(), tid, 0) == 0; }

static int start(void *(*routine)(void *)) {
  atomic_store(&ending, 0);
  CHECK_EQUAL(threads_start_agent(routine), 0);
  while (!atomic_load(&ending)) {
    usleep(100);
  }
  return atomic_load(&ending);
}

static void startOneThatIsEnding(void) {
  create_session();
  CHECK_EQUAL(pthread_key_create(&key, linger), 0);
  int tid = start(end_slowly);
  CHECK(is_there(tid));
  CHECK(agent_threads_are_there());
  seen = true;
}

static void shouldKnowAThreadUntilItIsGone(void) {
  startOneThatIsEnding();
  while (is_there(atomic_load(&ending))) {
    usleep(1000);
  }
  CHECK(!agent_threads_are_there());
}

static void shouldWaitForAThreadThatIsEnding(void) {
  startOneThatIsEnding();
  CHECK(agent_remove_threads());
  CHECK(!is_there(atomic_load(&ending)));
}

static void shouldLeaveTheExitStatusToTheLastThread(void) {
  pid_t child = fork();
  if (child == 0) {
    startOneThatIsEnding();
    CHECK(agent_remove_threads());
    syscall(SYS_exit, 17L);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 17);
}

static void shouldRemoveAThreadAfterMoreHaveEndedThanAreKnownAtATime(void) {
  create_session();
  for (int i = 0; i < MANY; i++) {
    int tid = start(end_at_once);
    while (is_there(tid)) {
      usleep(10);
    }
  }
  int tid = start(stay);
  CHECK(agent_remove_threads());
  CHECK(!is_there(tid));
}

/* With room for fewer, the count says so: otherwise the caller would take what is left of the list for complete. */
static void shouldListTheProgramsThreadsAloneOrSayThatThereIsNoRoom(void) {
  enum { AGENTS = 3, ALL = AGENTS + 1 };
  uint32_t tids[ALL + 1];
  create_session();
  process_pid = getpid();
  for (int i = 0; i < AGENTS; i++) {
    start(stay);
  }
  for (int64_t capacity = 0; capacity <= ALL + 1; capacity++) {
    int64_t count = events_threads(getpid(), tids, capacity);
    CHECK(count > capacity || (count == 1 && (pid_t)tids[0] == getpid()));
  }
  CHECK_EQUAL(events_threads(getpid(), tids, ALL), 1);
  CHECK(agent_remove_threads());
}

/* It may hold a lock. */
static void shouldLeaveAloneAThreadThatDoesNotWait(void) {
  create_session();
  int tid = start(compute);
  removal_nanos_max = 200000000;
  CHECK(!agent_remove_threads());
  CHECK(is_there(tid));
}

/* ---- scheduling */

/* struct sched_attr, which libc does not have. */
struct scheduling {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
  uint32_t clamp_min, clamp_max;
};

static struct scheduling scheduling_of(int tid) {
  struct scheduling found = {.size = sizeof found};
  CHECK_EQUAL(syscall(SYS_sched_getattr, tid, &found, sizeof found, 0), 0);
  return found;
}

static void give_main(struct scheduling wanted) {
  wanted.size = sizeof wanted;
  if (syscall(SYS_sched_setattr, 0, &wanted, 0) != 0) {
    skip("the kernel does not let this user have the scheduling");
  }
}

_Noreturn static void *start_another(void *unused) {
  pthread_t another;
  CHECK_EQUAL(pthread_create(&another, NULL, stay, NULL), 0);
  (void)unused;
  for (;;) {
    pause();
  }
}

static void checkPolicyOfAgent(uint32_t policy, int nice) {
  create_session();
  struct scheduling first = scheduling_of(start(stay));
  CHECK_EQUAL(first.policy, policy);
  CHECK_EQUAL(first.nice, nice);
  struct scheduling second = scheduling_of(start(start_another));
  CHECK_EQUAL(second.policy, policy);
  CHECK_EQUAL(second.nice, nice);
}

static void shouldNotBeRealTimeWhereTheProgramIs(void) {
  give_main((struct scheduling){.policy = SCHED_FIFO, .priority = 50});
  checkPolicyOfAgent(SCHED_OTHER, 0);
  CHECK_EQUAL(scheduling_of(0).policy, SCHED_FIFO);
  CHECK_EQUAL(scheduling_of(0).priority, 50);
}

static void shouldNotComeBeforeOthersByANegativeNiceValue(void) {
  give_main((struct scheduling){.policy = SCHED_OTHER, .nice = -7});
  checkPolicyOfAgent(SCHED_OTHER, 0);
  CHECK_EQUAL(scheduling_of(0).nice, -7);
}

static void shouldComeBehindOthersWhereTheProgramDoes(void) {
  give_main((struct scheduling){.policy = SCHED_BATCH, .nice = 7});
  checkPolicyOfAgent(SCHED_BATCH, 7);
}

static void shouldNotDemandAFastProcessorWhereTheProgramDoes(void) {
  enum { CLAMPS = 0x78 }; /* SCHED_FLAG_KEEP_ALL, SCHED_FLAG_UTIL_CLAMP */
  give_main((struct scheduling){.flags = CLAMPS, .clamp_min = 1000, .clamp_max = 1024});
  create_session();
  CHECK_EQUAL(scheduling_of(start(stay)).clamp_min, 0);
  CHECK_EQUAL(scheduling_of(0).clamp_min, 1000);
}

static void shouldReadAndWriteFilesAsOthersDo(void) {
  enum { PROCESS = 1, REAL_TIME = 1 << 13 };
  if (syscall(SYS_ioprio_set, PROCESS, 0, REAL_TIME) != 0) {
    skip("the kernel does not let this user have the priority");
  }
  create_session();
  CHECK(syscall(SYS_ioprio_get, PROCESS, start(stay)) != REAL_TIME);
  CHECK_EQUAL(syscall(SYS_ioprio_get, PROCESS, 0), REAL_TIME);
}

static int timer_slack;

_Noreturn static void *tell_timer_slack(void *unused) {
  timer_slack = prctl(PR_GET_TIMERSLACK);
  stay(unused);
}

static void shouldWakeInTimeWhateverSlackTheProgramHas(void) {
  CHECK_EQUAL(prctl(PR_SET_TIMERSLACK, 4000000000ul), 0);
  create_session();
  start(tell_timer_slack);
  CHECK_EQUAL(timer_slack, 50000);
  CHECK_EQUAL((unsigned)prctl(PR_GET_TIMERSLACK), 4000000000u);
}

/* ---- signals */

static void ignore(int signal) { (void)signal; }

/* Like the JVM, which has a handler for its own faults. */
_Noreturn static void *handle_faults(void *unused) {
  sigaction(SIGSEGV, &(struct sigaction){.sa_handler = ignore}, NULL);
  stay(unused);
}

static void shouldPassOnAFaultThatWasSentToTheProcess(void) {
  sigset_t set;
  siginfo_t info;
  create_session();
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  sigprocmask(SIG_BLOCK, &set, NULL);
  start(handle_faults);
  kill(getpid(), SIGSEGV);
  CHECK_EQUAL(sigwaitinfo(&set, NULL), SIGSEGV);
  sigqueue(getpid(), SIGSEGV, (union sigval){.sival_int = 5});
  CHECK_EQUAL(sigwaitinfo(&set, &info), SIGSEGV);
  CHECK_EQUAL(info.si_code, SI_QUEUE);
  CHECK_EQUAL(info.si_value.sival_int, 5);
}

/* ---- stacks */

/* The size of the agent's stacks: libc reuses cached stacks of that size for new threads. */
enum { STACK = 1 << 20, GUARDED = 4 * 4096, LEFT = 64 << 10, STACKS = 40 };

static uint64_t low_end(void) {
  pthread_attr_t attributes;
  void *low;
  size_t bytes;
  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &low, &bytes), 0);
  pthread_attr_destroy(&attributes);
  return (uintptr_t)low;
}

/* Like a JVM, which removes its guard pages in a forked child as well. */
static void guard_stack(void) {
  void *at = (void *)low_end();
  CHECK(mmap(at, GUARDED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at);
  CHECK_EQUAL(madvise(at, GUARDED, MADV_DONTFORK), 0);
}

static void *guard_and_end(void *unused) {
  guard_stack();
  return end_at_once(unused);
}

_Noreturn static void *guard_and_stay(void *unused) {
  guard_stack();
  stay(unused);
}

static void *use_whole_stack(void *unused) {
  volatile char *low = (volatile char *)low_end();
  for (uint64_t at = (uintptr_t)__builtin_frame_address(0) - LEFT; at > (uintptr_t)low; at -= 4096) {
    *(volatile char *)at = 1;
  }
  *low = 1;
  return unused;
}

static void use_stacks(void) {
  pthread_t threads[STACKS];
  pthread_attr_t attributes;
  CHECK_EQUAL(pthread_attr_init(&attributes), 0);
  CHECK_EQUAL(pthread_attr_setstacksize(&attributes, STACK), 0);
  CHECK_EQUAL(pthread_attr_setguardsize(&attributes, 0), 0);
  for (int i = 0; i < STACKS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], &attributes, use_whole_stack, NULL), 0);
  }
  for (int i = 0; i < STACKS; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
}

static void shouldNotLeaveItsStacksToTheProgram(void) {
  create_session();
  for (int i = 0; i < STACKS; i++) {
    int tid = start(guard_and_end);
    while (is_there(tid)) {
      usleep(10);
    }
  }
  use_stacks();
}

/* The child may map memory where a stack of the agent was; it must stay when libc frees its cached stacks. */
static void shouldNotLeaveItsStacksToAForkedChild(void) {
  enum { BLOCKS = 2000, BYTES = 8192 };
  static unsigned char *blocks[BLOCKS];
  create_session();
  for (int i = 0; i < STACKS / 2; i++) {
    start(guard_and_stay);
  }
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < BLOCKS; i++) {
      blocks[i] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      CHECK(blocks[i] != MAP_FAILED);
      memset(blocks[i], i + 1, BYTES);
    }
    use_stacks();
    for (int i = 0; i < BLOCKS; i++) {
      for (int j = 0; j < BYTES; j++) {
        CHECK_EQUAL(blocks[i][j], (unsigned char)(i + 1));
      }
    }
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

/* libc's lists lead to the agent's threads, whose stacks the child does not have. */
static void shouldLetAForkedChildChangeItsUser(void) {
  create_session();
  start(guard_and_stay);
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    CHECK_EQUAL(setuid(getuid()), 0);
    use_stacks();
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

TESTS({"shouldNotLeaveItsStacksToTheProgram", shouldNotLeaveItsStacksToTheProgram},
      {"shouldNotLeaveItsStacksToAForkedChild", shouldNotLeaveItsStacksToAForkedChild},
      {"shouldLetAForkedChildChangeItsUser", shouldLetAForkedChildChangeItsUser},
      {"shouldKnowAThreadUntilItIsGone", shouldKnowAThreadUntilItIsGone},
      {"shouldWaitForAThreadThatIsEnding", shouldWaitForAThreadThatIsEnding},
      {"shouldLeaveTheExitStatusToTheLastThread", shouldLeaveTheExitStatusToTheLastThread},
      {"shouldRemoveAThreadAfterMoreHaveEndedThanAreKnownAtATime", shouldRemoveAThreadAfterMoreHaveEndedThanAreKnownAtATime},
      {"shouldListTheProgramsThreadsAloneOrSayThatThereIsNoRoom", shouldListTheProgramsThreadsAloneOrSayThatThereIsNoRoom},
      {"shouldLeaveAloneAThreadThatDoesNotWait", shouldLeaveAloneAThreadThatDoesNotWait},
      {"shouldNotBeRealTimeWhereTheProgramIs", shouldNotBeRealTimeWhereTheProgramIs},
      {"shouldNotComeBeforeOthersByANegativeNiceValue", shouldNotComeBeforeOthersByANegativeNiceValue},
      {"shouldComeBehindOthersWhereTheProgramDoes", shouldComeBehindOthersWhereTheProgramDoes},
      {"shouldNotDemandAFastProcessorWhereTheProgramDoes", shouldNotDemandAFastProcessorWhereTheProgramDoes},
      {"shouldReadAndWriteFilesAsOthersDo", shouldReadAndWriteFilesAsOthersDo},
      {"shouldWakeInTimeWhateverSlackTheProgramHas", shouldWakeInTimeWhateverSlackTheProgramHas},
      {"shouldPassOnAFaultThatWasSentToTheProcess", shouldPassOnAFaultThatWasSentToTheProcess})
