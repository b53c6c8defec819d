/* How far a process may have come. */
#include "os/process_stat.h"
#include "os/progress.h"
#include "os/sys.h"

#include "check.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

static const uint64_t HOUR = 3600000000000u;
static const uint64_t RESOLUTION = 10000000u;

static void spin(void) {
  for (;;) {
  }
}

static void sleep_for_ever(void) {
  for (;;) {
    pause();
  }
}

static pid_t child_that(void (*acts)(void)) {
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    acts();
  }
  CHECK(child > 0);
  return child;
}

static void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static uint64_t progress_within_an_hour(pid_t child) {
  struct progress progress = progress_of(child);
  progress.looked_nanos -= HOUR;
  progress_look(&progress);
  return progress.nanos;
}

static void shouldCountTheElapsedTimeOfAProcessThatSleeps(void) {
  pid_t child = child_that(sleep_for_ever);
  while (process_stat_state(child) != 'S') {
    sched_yield();
  }
  CHECK(progress_within_an_hour(child) >= HOUR);
  end(child);
}

static void shouldCountTheCpuTimeOfAProcessThatWaitsForAProcessor(void) {
  pid_t child = child_that(spin);
  uint64_t nanos = progress_within_an_hour(child);
  CHECK(nanos <= clock_nanos(process_cpu_clock(child)) + RESOLUTION);
  end(child);
}

static void shouldCountTheCpuTimeOfItself(void) {
  uint64_t nanos = progress_within_an_hour(getpid());
  CHECK(nanos <= clock_nanos(CLOCK_PROCESS_CPUTIME_ID));
}

static void shouldCountTheElapsedTimeOfAProcessThatCannotBeRead(void) {
  CHECK_EQUAL(process_stat_state(-1), 0);
  CHECK(progress_within_an_hour(-1) >= HOUR);
}

TESTS({"shouldCountTheElapsedTimeOfAProcessThatSleeps", shouldCountTheElapsedTimeOfAProcessThatSleeps},
      {"shouldCountTheCpuTimeOfAProcessThatWaitsForAProcessor", shouldCountTheCpuTimeOfAProcessThatWaitsForAProcessor},
      {"shouldCountTheCpuTimeOfItself", shouldCountTheCpuTimeOfItself},
      {"shouldCountTheElapsedTimeOfAProcessThatCannotBeRead", shouldCountTheElapsedTimeOfAProcessThatCannotBeRead})
