/* Samples of threads' program counters, as the real kernel takes them. Threads burn CPU time until there are as many as a test
 * wants, so it does not matter how busy the machine is. */
#include "agent/pc_samples.h"

#include "agent/descriptors.h"
#include "fixture.h"

#include <errno.h>
#include <mdl/api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

enum { PERIOD_NANOS = 1000000, CAPACITY = 4096, BURN_MILLIS = 20 };

extern const char __start_burning[], __stop_burning[];

static volatile uint64_t sink;
static uint64_t out[CAPACITY];
static int64_t seen_burning;

static uint64_t cpu_millis(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The code that takes the time, in a section of its own. */
__attribute__((noinline, section("burning"))) static void turn(void) {
  for (int i = 0; i < 1000000; i++) {
    sink += (uint64_t)i;
  }
}

static void burn(uint64_t millis) {
  for (uint64_t end = cpu_millis() + millis; cpu_millis() < end;) {
    turn();
  }
}

static int64_t open_sampler(int64_t tid) {
  agent_has_own_descriptors = true;
  int64_t sampler = pc_samples_open(tid, PERIOD_NANOS);
  if (sampler == -EACCES || sampler == -EPERM || sampler == -ENOSYS) {
    skip("the kernel does not allow samples here");
  }
  return sampler;
}

static int64_t self(void) { return syscall(SYS_gettid); }

static int64_t count_burning(int64_t count) {
  int64_t inside = 0;
  for (int64_t i = 1; i <= count; i++) {
    inside += out[i] >= (uint64_t)__start_burning && out[i] < (uint64_t)__stop_burning;
  }
  return inside;
}

/* Burns until there are at least so many samples: how many there are. */
static int64_t collect(int64_t sampler, int64_t wanted) {
  int64_t count = 0;
  for (seen_burning = 0; count < wanted;) {
    burn(BURN_MILLIS);
    int64_t more = pc_samples_read(sampler, out, CAPACITY);
    seen_burning += count_burning(more);
    count += more;
    CHECK_EQUAL(out[0], 0);
  }
  return count;
}

static void shouldTellWhereAThreadSpendsItsTime(void) {
  int64_t sampler = open_sampler(self());
  CHECK(sampler >= 0);
  int64_t count = collect(sampler, 100);
  CHECK(seen_burning >= count * 9 / 10);
}

static void shouldTellEachSampleOnce(void) {
  int64_t sampler = open_sampler(self());
  collect(sampler, 100);
  CHECK(pc_samples_read(sampler, out, CAPACITY) <= 5);
}

/* What out has no room for comes the next time. */
static void shouldTellAllInParts(void) {
  enum { PART = 4 };
  int64_t sampler = open_sampler(self());
  int64_t count = 0;
  int64_t inside = 0;
  while (count < 100) {
    burn(BURN_MILLIS);
    for (int64_t part = PART - 1; part == PART - 1;) {
      part = pc_samples_read(sampler, out, PART);
      CHECK(part < PART);
      count += part;
      inside += count_burning(part);
    }
  }
  CHECK(inside >= count * 9 / 10);
}

/* Of 512 samples. */
static void shouldReadAroundTheEndOfTheRing(void) {
  int64_t sampler = open_sampler(self());
  int64_t count = collect(sampler, 1200);
  CHECK(seen_burning >= count * 9 / 10);
}

static void shouldCountWhatIsLost(void) {
  int64_t sampler = open_sampler(self());
  int64_t lost = 0;
  while (lost == 0) {
    burn(1000);
    CHECK(pc_samples_read(sampler, out, CAPACITY) <= 512);
    burn(BURN_MILLIS); /* the kernel tells of what was lost when there is room again */
    pc_samples_read(sampler, out, CAPACITY);
    lost = (int64_t)out[0];
  }
  CHECK(lost < 100000);
}

static int begun[2], gate[2];
static _Atomic int64_t tid;
static _Atomic bool enough;

static void *burn_elsewhere(void *unused) {
  char byte = 0;
  atomic_store(&tid, self());
  CHECK(write(begun[1], &byte, 1) == 1);
  CHECK(read(gate[0], &byte, 1) == 1);
  while (!atomic_load(&enough)) {
    turn();
  }
  return unused;
}

static void shouldSampleTheThreadThatWasNamedAlone(void) {
  pthread_t other;
  char byte = 0;
  CHECK(pipe(begun) == 0);
  CHECK(pipe(gate) == 0);
  pthread_create(&other, NULL, burn_elsewhere, NULL);
  CHECK(read(begun[0], &byte, 1) == 1);
  int64_t sampler = open_sampler(atomic_load(&tid));
  int64_t own = open_sampler(self());
  collect(own, 100);
  CHECK(pc_samples_read(sampler, out, CAPACITY) <= 5);
  CHECK(write(gate[1], &byte, 1) == 1);
  for (int64_t count = 0; count < 100;) {
    usleep(1000);
    count += pc_samples_read(sampler, out, CAPACITY);
  }
  atomic_store(&enough, true);
  pthread_join(other, NULL);
}

static void shouldRefuseWhatCannotBe(void) {
  open_sampler(self());
  CHECK_EQUAL(pc_samples_open(INT32_MAX, PERIOD_NANOS), -ESRCH);
  agent_has_own_descriptors = false;
  CHECK_EQUAL(pc_samples_open(self(), PERIOD_NANOS), -EBADF);
}

static void shouldGiveTheRoomOfOneThatIsClosedToAnother(void) {
  int64_t last = -1;
  for (int i = 0; i < MDL_PC_THREADS; i++) {
    last = open_sampler(self());
    CHECK(last >= 0);
  }
  CHECK_EQUAL(open_sampler(self()), -EMFILE);
  pc_samples_close(last);
  CHECK_EQUAL(open_sampler(self()), last);
  collect(last, 10);
}

/* The child of a fork has none of the parent's rings, and the agent that begins there has all the room. */
static void shouldBeginAnewInAForkedProcess(void) {
  for (int i = 0; i < MDL_PC_THREADS; i++) {
    CHECK(open_sampler(self()) >= 0);
  }
  pid_t child = fork();
  if (child == 0) {
    process_pid = getpid();
    int64_t sampler = open_sampler(self());
    CHECK(sampler >= 0);
    collect(sampler, 10);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
}

TESTS({"shouldTellWhereAThreadSpendsItsTime", shouldTellWhereAThreadSpendsItsTime},
      {"shouldTellEachSampleOnce", shouldTellEachSampleOnce},
      {"shouldTellAllInParts", shouldTellAllInParts},
      {"shouldReadAroundTheEndOfTheRing", shouldReadAroundTheEndOfTheRing},
      {"shouldCountWhatIsLost", shouldCountWhatIsLost},
      {"shouldSampleTheThreadThatWasNamedAlone", shouldSampleTheThreadThatWasNamedAlone},
      {"shouldRefuseWhatCannotBe", shouldRefuseWhatCannotBe},
      {"shouldGiveTheRoomOfOneThatIsClosedToAnother", shouldGiveTheRoomOfOneThatIsClosedToAnother},
      {"shouldBeginAnewInAForkedProcess", shouldBeginAnewInAForkedProcess})
