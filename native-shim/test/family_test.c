#include "agent/ready.h"
#include "agent/watch.h"
#include "code/code.h"
#include "code/toggle.h"
#include "fixture.h"
#include "os/sys.h"
#include "process/threads.h"
#include "record/mode.h"
#include "record/program_cpu.h"
#include "record/record.h"
#include "record/lease.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/life.h"
#include "session/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <time.h>
#include <x86intrin.h>

#define KEY(level) (0x7fff00000000ULL - 0x100 * (uint64_t)(level))

extern char **environ;

static void call(int function) {
  record_entry_slow(entry_of(function), address_of(function), KEY(1));
  record_exit_slow(exit_of(function), address_of(function), KEY(1), 0);
}

static void call_often(int function, int times) {
  for (int i = 0; i < times; i++) {
    call(function);
  }
}

static struct mdl_process *first_process(void) { return (struct mdl_process *)session->processes; }
static struct mdl_process *next_process(const struct mdl_process *at) { return (struct mdl_process *)at->next; }

static struct mdl_process *process_of(pid_t pid) {
  for (struct mdl_process *at = first_process(); at; at = next_process(at)) {
    if (at->pid == (uint32_t)pid) {
      return at;
    }
  }
  return NULL;
}

static uint64_t sum_of(const struct mdl_thread *thread) {
  uint64_t sum = 0;
  for (int i = 0; i < FUNCTIONS; i++) {
    sum += ((uint64_t *)thread->calls)[i];
  }
  return sum;
}

/* As a reader computes it. */
static uint64_t calls_of(const struct mdl_process *process) {
  uint64_t calls = process->calls;
  for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
    if (at->process == (uintptr_t)process) {
      calls += sum_of(at) - at->credited;
    }
  }
  return calls;
}

static uint64_t calls_of_all(int function) {
  uint64_t calls = 0;
  for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
    calls += ((uint64_t *)at->calls)[function];
  }
  return calls;
}

static int end_of(pid_t child) {
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return status;
}

static _Noreturn void kill_self(void) {
  kill(getpid(), SIGKILL);
  for (;;) {
    pause();
  }
}

/* ---- records */

static void shouldHaveARecordOfEachProcess(void) {
  fixture(true);
  call_often(0, 3);
  pid_t child = fork();
  if (child == 0) {
    call_often(1, 5);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      call_often(1, 7);
      _exit(4);
    }
    end_of(grandchild);
    const struct mdl_process *theirs = process_of(grandchild);
    CHECK(theirs != NULL);
    CHECK_EQUAL(theirs->parent, getpid());
    CHECK_EQUAL(theirs->exit_status, 4);
    CHECK_EQUAL(theirs->forks, 1);
    CHECK_EQUAL(calls_of(theirs), 7);
    CHECK_EQUAL(session->children, 1);
    exit(3);
  }
  CHECK_EQUAL(WEXITSTATUS(end_of(child)), 3);
  const struct mdl_process *own = process_of(getpid()), *childs = process_of(child);
  CHECK(own != NULL && childs != NULL);
  CHECK_EQUAL(session->agent_process, (uintptr_t)own);
  CHECK_EQUAL(own->parent, getppid());
  CHECK_EQUAL(own->state, MDL_PROCESS_LIVE);
  CHECK_EQUAL(own->ended_nanos, 0);
  CHECK_EQUAL(calls_of(own), 3);
  CHECK_EQUAL(childs->parent, getpid());
  CHECK_EQUAL(childs->exit_status, 3);
  CHECK_EQUAL(childs->state, MDL_PROCESS_ENDED);
  CHECK_EQUAL(childs->forks, 0);
  CHECK_EQUAL(session->forks, 2);
  CHECK_EQUAL(calls_of(childs), 5);
  CHECK(own->started_nanos <= childs->started_nanos);
  CHECK(childs->started_nanos < childs->ended_nanos);
  CHECK(childs->last_cpu_nanos > 0);
  CHECK_EQUAL(session->process_count, 3);
  CHECK_EQUAL(session->children, 0);
  CHECK_EQUAL(session->state, MDL_STARTING); /* only the agent's process ends a session */
}

static void shouldNoteWhoWasKilled(void) {
  fixture(true);
  pid_t child = fork();
  if (child == 0) {
    call_often(1, 5);
    kill_self();
  }
  end_of(child);
  struct mdl_process *childs = process_of(child);
  CHECK_EQUAL(childs->state, MDL_PROCESS_LIVE);
  CHECK_EQUAL(session->children, 1);
  family_sweep();
  CHECK_EQUAL(childs->state, MDL_PROCESS_ENDED);
  CHECK(childs->ended_nanos > childs->started_nanos);
  CHECK_EQUAL(childs->exit_status, -1);
  CHECK_EQUAL(calls_of(childs), 5);
  CHECK_EQUAL(session->children, 0);
  family_sweep();
  CHECK_EQUAL(session->children, 0);
}

static void shouldNoteWhoHasExecutedAnotherProgram(void) {
  fixture(true);
  int to_child[2], from_child[2];
  CHECK_EQUAL(pipe(to_child) + pipe(from_child), 0);
  pid_t child = fork();
  if (child == 0) {
    call(1);
    dup2(to_child[0], 0);
    dup2(from_child[1], 1);
    close(to_child[1]);
    execl("/bin/cat", "cat", (char *)NULL);
    _exit(1);
  }
  char byte;
  CHECK_EQUAL(write(to_child[1], "x", 1), 1);
  CHECK_EQUAL(read(from_child[0], &byte, 1), 1); /* it is cat by now */
  family_sweep();
  CHECK_EQUAL(kill(child, 0), 0);
  CHECK_EQUAL(process_of(child)->state, MDL_PROCESS_ENDED);
  CHECK_EQUAL(process_of(child)->exit_status, -1);
  CHECK_EQUAL(calls_of(process_of(child)), 1);
  close(to_child[1]);
  CHECK_EQUAL(end_of(child), 0);
}

static int go_on_from;

static void *go_on(void *unused) {
  char byte;
  call(2);
  CHECK_EQUAL(read(go_on_from, &byte, 1), 1);
  call(2);
  return unused;
}

static void shouldNotTakeAProcessForEndedThatItsMainThreadHasLeft(void) {
  fixture(true);
  int ends[2];
  CHECK_EQUAL(pipe(ends), 0);
  go_on_from = ends[0];
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, go_on, NULL);
    call(1);
    pthread_exit(NULL);
  }
  while (process_of(child) == NULL || process_of(child)->state != MDL_PROCESS_LEADERLESS) {
    usleep(1000);
  }
  while ((*(uint32_t *)process_of(child)->owner & 0x40000000u) == 0) { /* until its main thread is gone */
    usleep(1000);
  }
  family_sweep();
  CHECK_EQUAL(process_of(child)->state, MDL_PROCESS_LEADERLESS);
  CHECK_EQUAL(session->children, 1);
  CHECK_EQUAL(write(ends[1], "x", 1), 1);
  CHECK_EQUAL(end_of(child), 0);
  CHECK_EQUAL(process_of(child)->state, MDL_PROCESS_ENDED);
  CHECK_EQUAL(process_of(child)->exit_status, 0);
  CHECK_EQUAL(calls_of(process_of(child)), 3);
  CHECK_EQUAL(session->children, 0);
}

static void shouldNotBeDisturbedByVforkAndSpawn(void) {
  fixture(true);
  call(0);
  struct mdl_thread *own = mdl_self;
  pid_t child = vfork();
  if (child == 0) {
    call(1); /* in its parent's memory, on its parent's behalf */
    _exit(0);
  }
  end_of(child);
  char *const command[] = {"true", NULL};
  CHECK_EQUAL(posix_spawn(&child, "/bin/true", NULL, NULL, command, environ), 0);
  CHECK_EQUAL(end_of(child), 0);
  call(0);
  CHECK(mdl_self == own);
  CHECK_EQUAL(own->pid, getpid());
  CHECK_EQUAL(own->state, MDL_THREAD_LIVE);
  CHECK_EQUAL(session->process_count, 1);
  CHECK_EQUAL(session->children, 0);
  CHECK_EQUAL(calls_of(process_of(getpid())), 3);
  CHECK_EQUAL(session->state, MDL_STARTING);
}

/* ---- blocks and records of ended processes */

static void shouldKeepProcessesApartWhileTheirBlocksAreFew(void) {
  enum { CHILDREN = 40 };
  fixture(true);
  pid_t children[CHILDREN];
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      call_often(i % FUNCTIONS, i + 1);
      if (i % 2) {
        kill_self();
      }
      _exit(0);
    }
    end_of(children[i]);
  }
  for (int i = 0; i < CHILDREN; i++) {
    const struct mdl_process *childs = process_of(children[i]);
    CHECK_EQUAL(calls_of(childs), i + 1);
    for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
      if (at->process == (uintptr_t)childs) {
        CHECK_EQUAL(at->shared, 0);
        CHECK_EQUAL(((uint64_t *)at->calls)[i % FUNCTIONS], i + 1);
      }
    }
  }
}

static void shouldNeitherLeakNorMixOverTenThousandForks(void) {
  enum { FORKS = 10000, AT_ONCE = 4, RECORDS = 1024, BLOCKS = 64 };
  fixture(true);
  uint64_t expected[FUNCTIONS] = {0}, expected_calls = 0;
  static pid_t children[FORKS];
  uint64_t arena_when_all_kept = 0;
  for (int i = 0; i < FORKS; i++) {
    int calls = i % 17 + 1;
    children[i] = fork();
    if (children[i] == 0) {
      call_often(i % FUNCTIONS, calls);
      if (i % 3 == 0) {
        kill_self();
      }
      _exit(i % 7);
    }
    expected[i % FUNCTIONS] += (uint64_t)calls;
    expected_calls += (uint64_t)calls;
    if (i >= AT_ONCE) {
      end_of(children[i - AT_ONCE]);
    }
    if (i == 3 * RECORDS) {
      arena_when_all_kept = session->arena_next;
    }
  }
  for (int i = FORKS - AT_ONCE; i < FORKS; i++) {
    end_of(children[i]);
  }
  family_sweep();
  /* Only the rows of functions that a block had not met before, and chunks of durations new to its calls,
   * of which there are more on a busy machine. A leak of a block or a row for each of the 7,000 forks since
   * would be several times that. */
  CHECK(session->arena_next - arena_when_all_kept < 2 << 20);
  CHECK_EQUAL(session->arena_refused, 0);
  CHECK_EQUAL(session->threads_refused, 0);
  CHECK_EQUAL(session->processes_refused, 0);
  CHECK_EQUAL(session->process_count, RECORDS);
  CHECK(session->thread_count <= BLOCKS + AT_ONCE + 1);
  CHECK_EQUAL(session->children, 0);
  for (int i = 0; i < FUNCTIONS; i++) {
    CHECK_EQUAL(calls_of_all(i), expected[i]);
  }
  uint64_t listed = 0, calls = session->calls_forgotten;
  for (const struct mdl_process *at = first_process(); at; at = next_process(at)) {
    listed++;
    calls += calls_of(at);
  }
  CHECK_EQUAL(listed, RECORDS);
  CHECK_EQUAL(listed + session->processes_forgotten, FORKS + 1);
  CHECK_EQUAL(calls, expected_calls);
  /* The latest, one by one: if an id was used twice, the newer record comes first only by chance. */
  int checked = 0;
  for (int i = FORKS - 500; i < FORKS; i++) {
    const struct mdl_process *childs = process_of(children[i]);
    CHECK(childs != NULL);
    CHECK_EQUAL(calls_of(childs), i % 17 + 1);
    CHECK_EQUAL(childs->exit_status, i % 3 == 0 ? -1 : i % 7);
    checked++;
  }
  CHECK_EQUAL(checked, 500);
}

static void shouldGoOnWithoutARecordWhenAllAreOfLivingProcesses(void) {
  fixture(true);
  pid_t first = fork();
  if (first == 0) {
    for (;;) {
      pause();
    }
  }
  while (process_of(first) == NULL) {
    usleep(1000);
  }
  session->limit = session->arena_next; /* no room for another */
  pid_t second = fork();
  if (second == 0) {
    _exit(0);
  }
  CHECK_EQUAL(end_of(second), 0);
  CHECK(process_of(second) == NULL);
  CHECK_EQUAL(session->processes_refused, 1);
  kill(first, SIGKILL);
  end_of(first);
}

/* ---- CPU time */

static void burn(uint64_t nanos) {
  while (clock_nanos(CLOCK_PROCESS_CPUTIME_ID) < nanos) {
  }
}

static void shouldAddUpTheCpuTimeOfForkedProcessesThatLiveAndThatHaveEnded(void) {
  enum { MILLI = 1000000 };
  fixture(false);
  int ends[2];
  CHECK_EQUAL(pipe(ends), 0);
  pid_t exits = fork();
  if (exits == 0) {
    burn(50 * MILLI);
    _exit(0);
  }
  end_of(exits);
  int64_t after_first = record_program_cpu_nanos();
  CHECK(after_first >= 50 * MILLI);
  CHECK(after_first < 200 * MILLI);
  CHECK_EQUAL(record_program_cpu_nanos(), after_first);
  pid_t lives = fork();
  if (lives == 0) {
    burn(100 * MILLI);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    for (;;) {
      pause();
    }
  }
  int64_t last = after_first, steps = 0;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  for (char byte; read(ends[0], &byte, 1) != 1;) {
    int64_t now = record_program_cpu_nanos();
    CHECK(now >= last);
    steps += now > last;
    last = now;
    usleep(1000);
  }
  CHECK(steps > 0);
  CHECK(last - after_first > 80 * MILLI);
  CHECK(last - after_first < 150 * MILLI);
  kill(lives, SIGKILL);
  end_of(lives);
}

/* ---- the end of the agent */

/* Runs a process that forks a child, which calls `observe`, and takes the child's verdict. */
static void observe_child_of(void (*master)(void), void (*observe)(void)) {
  int verdict[2], to_master[2], ready[2];
  CHECK_EQUAL(pipe(verdict) + pipe(to_master) + pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    master();
    pid_t child = fork();
    if (child == 0) {
      close(to_master[1]);
      char byte;
      CHECK_EQUAL(write(ready[1], "r", 1), 1);
      CHECK_EQUAL(read(to_master[0], &byte, 1), 0); /* the master is gone */
      observe();
      CHECK_EQUAL(write(verdict[1], "y", 1), 1);
      _exit(0);
    }
    close(to_master[0]);
    close(verdict[1]);
    char byte;
    CHECK_EQUAL(read(ready[0], &byte, 1), 1);
    master();
    _exit(1);
  }
  close(to_master[0]);
  close(to_master[1]);
  close(verdict[1]);
  end_of(pid);
  char byte = 0;
  CHECK_EQUAL(read(verdict[0], &byte, 1), 1);
}

static bool begun;

static void arm_all(void) {
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    uint64_t lease = 1ULL << 40;
    record_arm(&i, &lease, 1);
  }
}

static void check_all(uint8_t entry, uint8_t exit_site) {
  for (int i = 0; i < FUNCTIONS; i++) {
    CHECK_EQUAL(code[2 * i], entry);
    CHECK_EQUAL(code[2 * i + 1], exit_site);
  }
}

static void arm_then_exit(void) {
  if (!begun) {
    begun = true;
    fixture(false);
    arm_all();
    return;
  }
  check_all(ENTRY_ON, EXIT_ON);
  exit(0);
}

static void see_that_all_is_off_and_the_session_over(void) {
  check_all(OFF, OFF);
  CHECK_EQUAL(session->state, MDL_ENDED);
  CHECK_EQUAL(session->exit_status, 0);
}

static void shouldSwitchOffWhenTheAgentsProcessExitsBeforeItsChildren(void) {
  observe_child_of(arm_then_exit, see_that_all_is_off_and_the_session_over);
}

static void toggle_all_then_die(void) {
  if (!begun) {
    begun = true;
    fixture(true);
    for (uint32_t i = 0; i < 2 * FUNCTIONS; i++) {
      code_toggle(&i, 1, 1);
    }
    return;
  }
  kill_self();
}

static void see_that_the_next_thread_switches_off(void) {
  check_all(ENTRY_ON, EXIT_ON);
  call(1);
  check_all(OFF, OFF);
  CHECK_EQUAL(session->threads_refused, 1);
  CHECK_EQUAL(calls_of_all(1), 0);
}

static void shouldSwitchOffAtTheNextThreadWhenTheAgentsProcessWasKilled(void) {
  observe_child_of(toggle_all_then_die, see_that_the_next_thread_switches_off);
}

static void see_that_the_next_process_switches_off(void) {
  check_all(ENTRY_ON, EXIT_ON);
  pid_t child = fork();
  if (child == 0) {
    check_all(OFF, OFF);
    _exit(0);
  }
  CHECK_EQUAL(end_of(child), 0);
}

static void shouldSwitchOffAtTheNextForkWhenTheAgentsProcessWasKilled(void) {
  observe_child_of(toggle_all_then_die, see_that_the_next_process_switches_off);
}

static void on_jvm_fault(int number) { (void)number; }

/* The JVM is up, so faults go to the shim first. */
static void arm_then_fault(void) {
  if (!begun) {
    begun = true;
    fixture(false);
    arm_all();
    is_agent_thread = true;
    CHECK_EQUAL(sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_jvm_fault}, NULL), 0);
    is_agent_thread = false;
    return;
  }
  check_all(ENTRY_ON, EXIT_ON);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  static volatile uintptr_t nowhere = 16;
  *(volatile int *)nowhere = 1;
}

static void see_that_all_is_off(void) { check_all(OFF, OFF); }

static void shouldSwitchOffWhenTheAgentsProcessEndsByAFault(void) {
  observe_child_of(arm_then_fault, see_that_all_is_off);
}

static void arm_then_die(void) {
  if (!begun) {
    begun = true;
    fixture(false);
    arm_all();
    return;
  }
  kill_self();
}

static void see_that_the_end_of_one_lease_switches_all_off(void) {
  record_sample_entry_slow(entry_of(0), address_of(0), KEY(1));
  check_all(OFF, OFF); /* and a new thread */
  arm_all();
  check_all(ENTRY_ON, EXIT_ON);
  functions[2].deadline = __rdtsc() - 1;
  record_expire_entry(entry_of(2));
  check_all(OFF, OFF);
}

static void shouldSwitchOffAtTheEndOfALeaseWhenTheAgentsProcessWasKilled(void) {
  observe_child_of(arm_then_die, see_that_the_end_of_one_lease_switches_all_off);
}

static void shouldLetTogglesReachAllProcesses(void) {
  /* The fixture's code is data, so this tests only memory; FamilyIT does it with code. */
  fixture(true);
  int ends[2];
  CHECK_EQUAL(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    CHECK_EQUAL(read(ends[0], &byte, 1), 1);
    _exit(code[0] == ENTRY_ON ? 0 : 1);
  }
  uint32_t site = 0;
  code_toggle(&site, 1, 1);
  CHECK_EQUAL(write(ends[1], "x", 1), 1);
  CHECK_EQUAL(end_of(child), 0);
}

/* ---- the watchdog */

static _Atomic bool beating;
static _Atomic uint64_t beats;

static void *beat(void *unused) {
  while (beating) {
    session_renew_clocks();
    beats++;
    usleep(1000);
  }
  return unused;
}

enum { WATCH_NANOS = 20000000 };

/* On a thread of the agent: the watchdog knows when that has no processor. */
static void start_beating(void) {
  watch_nanos = WATCH_NANOS;
  beating = true;
  CHECK_EQUAL(threads_start_agent(beat), 0);
  arm_all();
  agent_ready();
  watch_start();
  CHECK_EQUAL(session->state, MDL_ARMED);
}

/* By the test's own clock, while it beats. */
static void let_watchdog_wake_up_often(void) {
  uint64_t end = clock_nanos(CLOCK_MONOTONIC) + 10 * WATCH_NANOS;
  while (clock_nanos(CLOCK_MONOTONIC) < end) {
    usleep(1000);
  }
}

static void shouldLeaveAllOnWhileTheHeartBeats(void) {
  fixture(false);
  start_beating();
  let_watchdog_wake_up_often();
  CHECK(!agent_is_dead());
  check_all(ENTRY_ON, EXIT_ON);
}

static void shouldSwitchAllOffWhenTheHeartStopsAndNeverOnAgain(void) {
  fixture(false);
  start_beating();
  beating = false;
  while (!agent_is_dead()) {
    usleep(1000);
  }
  while (session->state != MDL_AGENT_DEAD) {
    usleep(1000);
  }
  check_all(OFF, OFF);

  /* It wakes up. */
  session_renew_clocks();
  arm_all();
  for (uint32_t i = 0; i < 2 * FUNCTIONS; i++) {
    CHECK_EQUAL(code_toggle(&i, 1, 1), 0);
  }
  uint32_t index = 0;
  record_disarm(&index, 1);
  record_expire_entry(entry_of(0));
  record_expire_exit(exit_of(0));
  agent_ready();
  check_all(OFF, OFF);
  CHECK_EQUAL(session->state, MDL_AGENT_DEAD);
}

static void shouldNotTakeAStoppedProcessForDead(void) {
  pid_t child = fork();
  if (child == 0) {
    fixture(false);
    start_beating();
    let_watchdog_wake_up_often();
    raise(SIGSTOP);
    let_watchdog_wake_up_often();
    CHECK(!agent_is_dead());
    check_all(ENTRY_ON, EXIT_ON);
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, WUNTRACED), child);
  CHECK(WIFSTOPPED(status));
  usleep(20 * WATCH_NANOS / 1000); /* the tested condition: that much later than the watchdog's timeout */
  kill(child, SIGCONT);
  CHECK_EQUAL(end_of(child), 0);
}

static void shouldSwitchAllOffWhenTheHeartNeverBeats(void) {
  fixture(false);
  watch_nanos = WATCH_NANOS;
  arm_all();
  check_all(ENTRY_ON, EXIT_ON);
  agent_ready();
  watch_start();
  while (session->state != MDL_AGENT_DEAD) {
    usleep(1000);
  }
  check_all(OFF, OFF);
}

static uint64_t waited;
static uint64_t waited_until_now(void) { return waited; }

static void shouldNotTakeAnAgentWithoutAProcessorForDead(void) {
  CHECK(!watch_is_stuck(7, waited_until_now));
  for (int i = 0; i < 100; i++) {
    waited += watch_nanos;
    CHECK(!watch_is_stuck(7, waited_until_now));
  }
  for (int i = 0; i < 3; i++) {
    CHECK(!watch_is_stuck(7, waited_until_now));
  }
  CHECK(watch_is_stuck(7, waited_until_now));
}

/* ---- before there is a session */

static void shouldNotSeeWhatRelativesWriteOnceItHasForgottenThem(void) {
  CHECK(kin_meet());
  pid_t child = fork();
  if (child == 0) {
    kin->session = 1;
    kin_forget();
    kin->alias = 2;
    _exit(kin->session == 0 ? 5 : 6);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 5);
  CHECK_EQUAL(kin->session, 1);
  CHECK_EQUAL(kin->alias, 0);
}

/* ---- forks while code is being generated */

TESTS({"shouldNotSeeWhatRelativesWriteOnceItHasForgottenThem", shouldNotSeeWhatRelativesWriteOnceItHasForgottenThem},
      {"shouldHaveARecordOfEachProcess", shouldHaveARecordOfEachProcess},
      {"shouldNoteWhoWasKilled", shouldNoteWhoWasKilled},
      {"shouldNoteWhoHasExecutedAnotherProgram", shouldNoteWhoHasExecutedAnotherProgram},
      {"shouldNotTakeAProcessForEndedThatItsMainThreadHasLeft", shouldNotTakeAProcessForEndedThatItsMainThreadHasLeft},
      {"shouldNotBeDisturbedByVforkAndSpawn", shouldNotBeDisturbedByVforkAndSpawn},
      {"shouldKeepProcessesApartWhileTheirBlocksAreFew", shouldKeepProcessesApartWhileTheirBlocksAreFew},
      {"shouldNeitherLeakNorMixOverTenThousandForks", shouldNeitherLeakNorMixOverTenThousandForks},
      {"shouldGoOnWithoutARecordWhenAllAreOfLivingProcesses", shouldGoOnWithoutARecordWhenAllAreOfLivingProcesses},
      {"shouldAddUpTheCpuTimeOfForkedProcessesThatLiveAndThatHaveEnded",
       shouldAddUpTheCpuTimeOfForkedProcessesThatLiveAndThatHaveEnded},
      {"shouldSwitchOffWhenTheAgentsProcessExitsBeforeItsChildren",
       shouldSwitchOffWhenTheAgentsProcessExitsBeforeItsChildren},
      {"shouldSwitchOffAtTheNextThreadWhenTheAgentsProcessWasKilled",
       shouldSwitchOffAtTheNextThreadWhenTheAgentsProcessWasKilled},
      {"shouldSwitchOffAtTheNextForkWhenTheAgentsProcessWasKilled",
       shouldSwitchOffAtTheNextForkWhenTheAgentsProcessWasKilled},
      {"shouldSwitchOffWhenTheAgentsProcessEndsByAFault", shouldSwitchOffWhenTheAgentsProcessEndsByAFault},
      {"shouldSwitchOffAtTheEndOfALeaseWhenTheAgentsProcessWasKilled",
       shouldSwitchOffAtTheEndOfALeaseWhenTheAgentsProcessWasKilled},
      {"shouldLetTogglesReachAllProcesses", shouldLetTogglesReachAllProcesses},
      {"shouldLeaveAllOnWhileTheHeartBeats", shouldLeaveAllOnWhileTheHeartBeats},
      {"shouldSwitchAllOffWhenTheHeartStopsAndNeverOnAgain", shouldSwitchAllOffWhenTheHeartStopsAndNeverOnAgain},
      {"shouldNotTakeAStoppedProcessForDead", shouldNotTakeAStoppedProcessForDead},
      {"shouldSwitchAllOffWhenTheHeartNeverBeats", shouldSwitchAllOffWhenTheHeartNeverBeats},
      {"shouldNotTakeAnAgentWithoutAProcessorForDead", shouldNotTakeAnAgentWithoutAProcessorForDead})
