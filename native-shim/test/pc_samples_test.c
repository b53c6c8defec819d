/* Samples of threads and of their call paths, taken by the real kernel. Threads burn CPU time until there
 * are as many samples as a test needs, so the load of the machine does not matter. */
#include "agent/pc_samples.h"

#include "agent/call_paths.h"
#include "agent/descriptors.h"
#include "agent/waits.h"
#include "fixture.h"
#include "os/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

enum { PERIOD_NANOS = 1000000, BURN_MILLIS = 20, UNKNOWNS = 64 };

static volatile uint64_t sink;
static const struct mdl_pc_samples *table;
static int64_t turns; /* the frame of turn() */

#define CALLED __attribute__((noinline, noclone))

static uint64_t cpu_millis(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The code that uses the time. */
CALLED static void turn(void) {
  for (int i = 0; i < 1000000; i++) {
    sink += (uint64_t)i;
  }
}

CALLED static void burn(void) {
  for (uint64_t end = cpu_millis() + BURN_MILLIS; cpu_millis() < end;) {
    turn();
    sink++;
  }
}

static const struct mdl_process lives = {.state = MDL_PROCESS_LEADERLESS};

static int64_t self(void) { return syscall(SYS_gettid); }

/* -errno when refused. */
static int64_t open_sampler(int64_t tid) {
  agent_has_own_descriptors = true;
  int64_t room = pc_samples_open(tid, PERIOD_NANOS, &lives);
  if (room == -EACCES || room == -EPERM || room == -ENOSYS) {
    skip("the kernel does not allow samples here");
  }
  table = (const struct mdl_pc_samples *)session->pc_samples;
  return room;
}

static struct mdl_pc_frame *frame(uint32_t number) {
  return (struct mdl_pc_frame *)table->frames[number / MDL_PC_CHUNK] + number % MDL_PC_CHUNK;
}
static struct mdl_pc_node *node(uint32_t number) {
  return (struct mdl_pc_node *)table->nodes[number / MDL_PC_CHUNK] + number % MDL_PC_CHUNK;
}

/* Each function is a frame, identified by its start address. */
static void place(const struct mdl_pc_place *unknown, int64_t count) {
  CHECK(count <= UNKNOWNS);
  for (int64_t i = 0; i < count; i++) {
    int64_t number = -1;
    for (uint32_t known = 0; known < table->frame_count; known++) {
      number = frame(known)->address == unknown[i].start && unknown[i].start ? (int64_t)known : number;
    }
    if (number < 0) {
      struct mdl_pc_frame made = {.function = MDL_PC_IMAGE, .address = unknown[i].start ? unknown[i].start : unknown[i].address};
      number = call_paths_frame(&made);
    }
    turns = unknown[i].start == (uintptr_t)turn ? number : turns;
    call_paths_place(unknown[i].address, number, -1);
  }
}

/* Counts samples. */
static void take(int64_t weight) {
  struct mdl_pc_place unknown[UNKNOWNS];
  for (int64_t count; (count = pc_samples_take(unknown, UNKNOWNS, weight)) > 0;) {
    place(unknown, count);
  }
}

static void collect(uint64_t wanted) {
  while (table->samples < wanted) {
    burn();
    take(1);
  }
}

static uint64_t of_turn(void) { return turns ? frame((uint32_t)turns)->samples : 0; }

/* Samples on paths whose last frame is turn()'s and that include code starting at `function`. */
static uint64_t by(const void *function) {
  uint64_t samples = 0;
  for (uint32_t i = 1; i < table->node_count; i++) {
    bool met = false;
    for (uint32_t at = i; at; at = node(at)->parent) {
      met |= frame(node(at)->frame)->address == (uintptr_t)function;
    }
    samples += met && node(i)->frame == turns ? node(i)->samples : 0;
  }
  return samples;
}

static void shouldTellWhereAThreadSpendsItsTimeAndHowItCameThere(void) {
  create_session();
  CHECK(open_sampler(self()) > 0);
  collect(100);
  CHECK(of_turn() >= table->samples * 9 / 10);
  CHECK(by((void *)burn) >= of_turn() * 9 / 10);
  CHECK_EQUAL(table->squares, table->samples);
  CHECK_EQUAL(table->left_out, 0);
}

static void shouldCountEachSampleOnceInAFrameAndOnceInAPath(void) {
  create_session();
  open_sampler(self());
  collect(100);
  uint64_t in_frames = 0, in_paths = 0;
  for (uint32_t i = 0; i < table->frame_count; i++) {
    in_frames += frame(i)->samples;
  }
  for (uint32_t i = 0; i < table->node_count; i++) {
    CHECK(i == 0 || node(i)->parent < i);
    in_paths += node(i)->samples;
  }
  CHECK_EQUAL(in_frames, table->samples);
  CHECK_EQUAL(in_paths, table->samples);
}

static void shouldCountSamplesAsOftenAsTheyStandForOthers(void) {
  create_session();
  open_sampler(self());
  while (table->samples == 0) {
    burn();
    take(7);
  }
  CHECK_EQUAL(table->samples % 7, 0);
  CHECK_EQUAL(table->squares, 7 * table->samples);
}

static void shouldReadAroundTheEndOfTheRing(void) {
  create_session();
  int64_t room = open_sampler(self());
  collect(3 * (uint64_t)room);
  CHECK(of_turn() >= table->samples * 9 / 10);
}

static void shouldCountWhatIsLost(void) {
  create_session();
  int64_t room = open_sampler(self());
  while (table->lost == 0) {
    for (int64_t i = 0; i < room; i++) {
      burn();
    }
    take(1); /* the kernel reports lost samples when there is room again */
    burn();
    take(1);
  }
  CHECK(table->samples > 0);
}

static void shouldTakeNoneWhileItIsSwitchedOff(void) {
  create_session();
  open_sampler(self());
  collect(10);
  pc_samples_switch(0);
  take(1);
  uint64_t before = table->samples;
  burn();
  take(1);
  CHECK_EQUAL(table->samples, before);
  pc_samples_switch(1);
  collect(before + 10);
}

static void shouldTakeNoneWhileItIsClosed(void) {
  create_session();
  open_sampler(self());
  collect(10);
  pc_samples_switch(-1);
  uint64_t before = table->samples;
  burn();
  take(1);
  CHECK_EQUAL(table->samples, before);
  CHECK(open_sampler(self()) > 0);
  collect(before + 10);
}

static int begun[2], gate[2];
static _Atomic int64_t tid;
static _Atomic bool enough;

CALLED static void burn_elsewhere(void) {
  turn();
  sink++;
}

static void *run_thread(void *unused) {
  char byte = 0;
  atomic_store(&tid, self());
  CHECK(write(begun[1], &byte, 1) == 1);
  CHECK(read(gate[0], &byte, 1) == 1);
  while (!atomic_load(&enough)) {
    burn_elsewhere();
  }
  return unused;
}

static void await_elsewhere(void) {
  while (by((void *)burn_elsewhere) < 10) {
    usleep(1000);
    take(1);
  }
}

static void shouldSampleThreadsThatAreBegunLater(void) {
  pthread_t other;
  char byte = 0;
  create_session();
  CHECK(pipe(begun) == 0 && pipe(gate) == 0);
  open_sampler(self());
  CHECK_EQUAL(pthread_create(&other, NULL, run_thread, NULL), 0);
  CHECK(read(begun[0], &byte, 1) == 1);
  CHECK(write(gate[1], &byte, 1) == 1);
  await_elsewhere();
  atomic_store(&enough, true);
  pthread_join(other, NULL);
}

static void shouldNotSampleAThreadThatNobodyHasNamed(void) {
  pthread_t other;
  char byte = 0;
  create_session();
  CHECK(pipe(begun) == 0 && pipe(gate) == 0);
  CHECK_EQUAL(pthread_create(&other, NULL, run_thread, NULL), 0);
  CHECK(read(begun[0], &byte, 1) == 1);
  open_sampler(self());
  CHECK(write(gate[1], &byte, 1) == 1);
  collect(100);
  CHECK_EQUAL(by((void *)burn_elsewhere), 0);
  CHECK(open_sampler(atomic_load(&tid)) > 0); /* into the same rings */
  await_elsewhere();
  atomic_store(&enough, true);
  pthread_join(other, NULL);
}

static void shouldSampleForkedProcesses(void) {
  create_session();
  open_sampler(self());
  pid_t child = fork();
  if (child == 0) {
    for (;;) {
      burn_elsewhere();
    }
  }
  await_elsewhere();
  kill(child, SIGKILL);
  CHECK(waitpid(child, NULL, 0) == child);
}

static int open_descriptors(void) {
  int count = 0;
  for (int descriptor = 0; descriptor < 1024; descriptor++) {
    count += fcntl(descriptor, F_GETFD) >= 0;
  }
  return count;
}

/* It executed another program after its threads were requested. */
static void shouldLeaveAProcessAloneThatIsNoLongerOurs(void) {
  static const struct mdl_process ended = {.state = MDL_PROCESS_ENDED};
  create_session();
  open_sampler(self());
  pid_t child = fork();
  if (child == 0) {
    pause();
  }
  int kept = open_descriptors();
  CHECK_EQUAL(pc_samples_open(child, PERIOD_NANOS, &ended), -ESRCH);
  CHECK_EQUAL(open_descriptors(), kept);
  CHECK(pc_samples_open(child, PERIOD_NANOS, &lives) > 0);
  CHECK(open_descriptors() > kept);
  kill(child, SIGKILL);
  CHECK(waitpid(child, NULL, 0) == child);
}

static void shouldRefuseWhatCannotBe(void) {
  create_session();
  open_sampler(self());
  CHECK_EQUAL(pc_samples_open(INT32_MAX, PERIOD_NANOS, &lives), -ESRCH);
  agent_has_own_descriptors = false;
  CHECK_EQUAL(pc_samples_open(self(), PERIOD_NANOS, &lives), -EBADF);
}

static void shouldBeginAnewInAForkedProcess(void) {
  create_session();
  open_sampler(self());
  collect(10);
  pid_t child = fork();
  if (child == 0) {
    process_pid = getpid();
    table = NULL;
    CHECK(open_sampler(self()) > 0);
    CHECK_EQUAL(table->samples, 0);
    collect(10);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
}

static struct mdl_pc_sample *sample(uint32_t number) {
  return (struct mdl_pc_sample *)table->log[number / MDL_PC_CHUNK] + number % MDL_PC_CHUNK;
}
static struct mdl_pc_thread *thread(uint32_t number) {
  return (struct mdl_pc_thread *)table->threads[number / MDL_PC_CHUNK] + number % MDL_PC_CHUNK;
}

static void shouldTellOfEachSampleWhenAndWhereItWasTaken(void) {
  create_session();
  prctl(PR_SET_NAME, "burner");
  uint64_t opened = clock_nanos(CLOCK_MONOTONIC) / 1000000;
  open_sampler(self());
  collect(100);
  CHECK_EQUAL(table->log_count, table->samples);
  CHECK_EQUAL(table->thread_count, 2);
  CHECK_EQUAL(thread(1)->tid, self());
  CHECK_EQUAL(thread(1)->pid, getpid());
  CHECK_EQUAL(thread(1)->samples, table->samples);
  CHECK(strcmp(thread(1)->name, "burner") == 0);
  uint64_t in_turn = 0;
  for (uint32_t i = 0; i < table->log_count; i++) {
    CHECK_EQUAL(sample(i)->thread, 1);
    CHECK_EQUAL(sample(i)->weight, 1);
    CHECK(sample(i)->millis <= clock_nanos(CLOCK_MONOTONIC) / 1000000 - opened);
    const struct mdl_pc_frame *frame_of_node = frame(node(sample(i)->node)->frame);
    in_turn += frame_of_node == frame((uint32_t)turns) && sample(i)->address != 0;
  }
  CHECK_EQUAL(in_turn, of_turn());
}

/* ---- threads that wait */

static int64_t waiter;

static void take_wait(void) {
  struct mdl_pc_place unknown[MDL_PC_PLACES];
  for (int64_t count; (count = waits_take(waiter, getpid(), unknown)) > 0;) {
    place(unknown, count);
  }
}

/* Nanoseconds on paths that include code starting at `function`; NULL: on all paths. */
static uint64_t waited(const void *function) {
  uint64_t nanos = 0;
  for (uint32_t i = 0; i < table->node_count; i++) {
    bool met = !function;
    for (uint32_t at = i; at; at = node(at)->parent) {
      met |= frame(node(at)->frame)->address == (uintptr_t)function;
    }
    nanos += met ? node(i)->waits : 0;
  }
  return nanos;
}

CALLED static void await(void) {
  char byte;
  CHECK(read(gate[0], &byte, 1) == 1);
  sink++;
}

/* Its size is known at run time, so the compiler uses a frame pointer. */
CALLED static void await_with_a_frame_pointer(int size) {
  volatile char room[size];
  room[0] = 0;
  await();
  sink += (uint64_t)room[0];
}

CALLED static void await_twice(void) {
  await();
  sink++;
  await_with_a_frame_pointer(100);
  sink++;
}

static void *run_waiter(void *unused) {
  char byte = 0;
  atomic_store(&tid, self());
  CHECK(write(begun[1], &byte, 1) == 1);
  await_twice();
  return unused;
}

static void shouldAddTimeOffTheProcessorsToThePathOnWhichAThreadWaits(void) {
  pthread_t other;
  char byte = 0;
  create_session();
  CHECK(pipe(begun) == 0 && pipe(gate) == 0);
  CHECK(call_paths_open(PERIOD_NANOS, PERF_COUNT_SW_TASK_CLOCK));
  table = (const struct mdl_pc_samples *)session->pc_samples;
  uint64_t before = clock_nanos(CLOCK_MONOTONIC);
  CHECK_EQUAL(pthread_create(&other, NULL, run_waiter, NULL), 0);
  CHECK(read(begun[0], &byte, 1) == 1);
  waiter = atomic_load(&tid);
  do {
    usleep(1000);
    take_wait();
  } while (waited((void *)await) < 10000000);
  CHECK_EQUAL(waited((void *)await_twice), waited(NULL));
  CHECK_EQUAL(waited((void *)await_with_a_frame_pointer), 0);
  CHECK(write(gate[1], &byte, 1) == 1);
  while (waited((void *)await_with_a_frame_pointer) < 10000000) {
    usleep(1000);
    take_wait();
  }
  CHECK_EQUAL(waited((void *)await_twice), waited(NULL));
  CHECK_EQUAL(waited((void *)run_waiter), waited(NULL));
  CHECK(waited(NULL) <= clock_nanos(CLOCK_MONOTONIC) - before);
  CHECK_EQUAL(table->samples, 0);
  CHECK(write(gate[1], &byte, 1) == 1);
  pthread_join(other, NULL);
  take_wait(); /* it has ended */
}

/* ---- events */

enum { PAGES = 1500, PAGE = 4096 };

CALLED static void touch(volatile char *pages) {
  for (int i = 0; i < PAGES; i++) {
    pages[i * PAGE] = 1;
  }
}

/* More than the stacks, and less than the places, that a ring has room for: with 64 processors, 15 and 1,638. */
static void shouldCountEachPageFaultThoughFewHaveStacks(void) {
  create_session();
  agent_has_own_descriptors = true;
  pc_samples_choose(PERF_COUNT_SW_PAGE_FAULTS);
  int64_t room = pc_samples_open(self(), 1, &lives);
  if (room == -EACCES || room == -EPERM || room == -ENOSYS) {
    skip("the kernel does not allow samples here");
  }
  CHECK(room > 0);
  table = (const struct mdl_pc_samples *)session->pc_samples;
  take(1);
  char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK_EQUAL(madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE), 0);
  uint64_t before = table->samples;
  touch(pages);
  take(1);
  uint64_t in_frames = 0, in_paths = 0, of_touch = 0;
  for (uint32_t i = 0; i < table->frame_count; i++) {
    in_frames += frame(i)->samples;
    of_touch += frame(i)->address == (uintptr_t)touch ? frame(i)->samples : 0;
  }
  for (uint32_t i = 0; i < table->node_count; i++) {
    in_paths += node(i)->samples;
  }
  CHECK_EQUAL(table->lost, 0);
  CHECK(of_touch >= PAGES && of_touch <= table->samples - before);
  CHECK_EQUAL(in_frames, table->samples);
  CHECK_EQUAL(in_paths, table->samples);
  CHECK(table->without_stack > 0 && table->without_stack < PAGES);
}

/* ---- the table of paths, without a kernel */

static const struct sample_facts nobody = {.tid = 1, .pid = 1};

/* The rest is a random selection of all samples. */
static void shouldKeepSomeOfTheSamplesWhereThereAreTooMany(void) {
  create_session();
  CHECK(call_paths_open(PERIOD_NANOS, PERF_COUNT_SW_TASK_CLOCK));
  table = (const struct mdl_pc_samples *)session->pc_samples;
  static const uint32_t path[] = {FRAME_PROBES};
  enum { ADDED = 3 * MDL_PC_LOG };
  for (uint32_t i = 0; i < ADDED; i++) {
    call_paths_add(path, 1, &(struct sample_facts){.address = i, .tid = 1 + (int32_t)(i % 2), .pid = 1}, 1);
  }
  CHECK_EQUAL(table->samples, ADDED);
  CHECK_EQUAL(table->thinned, 2);
  CHECK_EQUAL(table->log_version, 4);
  CHECK(table->log_count > MDL_PC_LOG * 2 / 3 && table->log_count < MDL_PC_LOG * 5 / 6);
  uint32_t of_first = 0;
  for (uint32_t i = 0; i < table->log_count; i++) {
    CHECK(i == 0 || sample(i)->address > sample(i - 1)->address);
    of_first += sample(i)->thread == 1;
  }
  CHECK(of_first > table->log_count * 2 / 5 && of_first < table->log_count * 3 / 5);
  CHECK_EQUAL(thread(1)->samples + thread(2)->samples, ADDED);
}

static void shouldCountThreadsTogetherForWhichThereIsNoRoom(void) {
  create_session();
  CHECK(call_paths_open(PERIOD_NANOS, PERF_COUNT_SW_TASK_CLOCK));
  table = (const struct mdl_pc_samples *)session->pc_samples;
  static const uint32_t path[] = {FRAME_PROBES};
  for (int32_t i = 1; i <= (int32_t)MDL_PC_THREADS; i++) {
    call_paths_add(path, 1, &(struct sample_facts){.tid = i, .pid = INT32_MAX}, 2);
  }
  CHECK_EQUAL(table->thread_count, MDL_PC_THREADS);
  CHECK_EQUAL(thread(0)->samples, 2);
  CHECK_EQUAL(thread(1)->samples, 2);
  CHECK_EQUAL(sample(MDL_PC_THREADS - 1)->thread, 0);
  CHECK_EQUAL(thread(1)->name[0], 0);
}

static void shouldSayWhichPathsFoundNoRoom(void) {
  create_session();
  CHECK(call_paths_open(PERIOD_NANOS, PERF_COUNT_SW_TASK_CLOCK));
  table = (const struct mdl_pc_samples *)session->pc_samples;
  uint32_t path[2];
  int64_t last = 0;
  for (uint32_t i = 3; i < MDL_PC_FRAMES; i++) {
    last = call_paths_frame(&(struct mdl_pc_frame){.function = MDL_PC_IMAGE, .address = i});
    CHECK_EQUAL(last, i);
  }
  CHECK_EQUAL(call_paths_frame(&(struct mdl_pc_frame){.function = MDL_PC_IMAGE}), FRAME_ELSEWHERE);
  uint64_t added = 0;
  for (uint32_t outer = 3; added < MDL_PC_NODES; outer++) {
    for (uint32_t i = 3; i < MDL_PC_FRAMES && added < MDL_PC_NODES; i++, added++) {
      path[0] = i;
      path[1] = outer;
      call_paths_add(path, 2, &nobody, 1);
    }
  }
  CHECK_EQUAL(table->samples, added);
  CHECK_EQUAL(table->node_count, MDL_PC_NODES);
  CHECK(table->left_out > 0);
  uint64_t in_paths = 0;
  for (uint32_t i = 0; i < table->node_count; i++) {
    in_paths += node(i)->samples;
  }
  CHECK_EQUAL(in_paths + table->left_out, added);
  call_paths_add(path, 2, &nobody, 1); /* existing entries keep their room */
  path[1] = 3;
  path[0] = 4;
  uint64_t before = table->left_out;
  call_paths_add(path, 2, &nobody, 5);
  CHECK_EQUAL(table->left_out, before);
}

static void shouldForgetAddressesWhenThereAreTooMany(void) {
  uint32_t found[FRAMES_OF_ADDRESS];
  create_session();
  CHECK(call_paths_open(PERIOD_NANOS, PERF_COUNT_SW_TASK_CLOCK));
  for (uint64_t i = 1; i <= 200000; i++) {
    call_paths_place(i, FRAME_PROBES, i % 2 ? -1 : FRAME_CUT);
    CHECK_EQUAL(call_paths_frames_at(i, found), 1 + (i % 2 == 0));
    CHECK_EQUAL(found[0], FRAME_PROBES);
  }
  CHECK_EQUAL(call_paths_frames_at(200001, found), 0);
  call_paths_forget();
  CHECK_EQUAL(call_paths_frames_at(200000, found), 0);
}

TESTS({"shouldTellWhereAThreadSpendsItsTimeAndHowItCameThere", shouldTellWhereAThreadSpendsItsTimeAndHowItCameThere},
      {"shouldCountEachSampleOnceInAFrameAndOnceInAPath", shouldCountEachSampleOnceInAFrameAndOnceInAPath},
      {"shouldCountSamplesAsOftenAsTheyStandForOthers", shouldCountSamplesAsOftenAsTheyStandForOthers},
      {"shouldReadAroundTheEndOfTheRing", shouldReadAroundTheEndOfTheRing},
      {"shouldCountWhatIsLost", shouldCountWhatIsLost},
      {"shouldTakeNoneWhileItIsSwitchedOff", shouldTakeNoneWhileItIsSwitchedOff},
      {"shouldTakeNoneWhileItIsClosed", shouldTakeNoneWhileItIsClosed},
      {"shouldSampleThreadsThatAreBegunLater", shouldSampleThreadsThatAreBegunLater},
      {"shouldNotSampleAThreadThatNobodyHasNamed", shouldNotSampleAThreadThatNobodyHasNamed},
      {"shouldSampleForkedProcesses", shouldSampleForkedProcesses},
      {"shouldLeaveAProcessAloneThatIsNoLongerOurs", shouldLeaveAProcessAloneThatIsNoLongerOurs},
      {"shouldRefuseWhatCannotBe", shouldRefuseWhatCannotBe},
      {"shouldBeginAnewInAForkedProcess", shouldBeginAnewInAForkedProcess},
      {"shouldTellOfEachSampleWhenAndWhereItWasTaken", shouldTellOfEachSampleWhenAndWhereItWasTaken},
      {"shouldAddTimeOffTheProcessorsToThePathOnWhichAThreadWaits", shouldAddTimeOffTheProcessorsToThePathOnWhichAThreadWaits},
      {"shouldCountEachPageFaultThoughFewHaveStacks", shouldCountEachPageFaultThoughFewHaveStacks},
      {"shouldKeepSomeOfTheSamplesWhereThereAreTooMany", shouldKeepSomeOfTheSamplesWhereThereAreTooMany},
      {"shouldCountThreadsTogetherForWhichThereIsNoRoom", shouldCountThreadsTogetherForWhichThereIsNoRoom},
      {"shouldSayWhichPathsFoundNoRoom", shouldSayWhichPathsFoundNoRoom},
      {"shouldForgetAddressesWhenThereAreTooMany", shouldForgetAddressesWhenThereAreTooMany})
