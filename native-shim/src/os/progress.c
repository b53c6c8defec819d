#include "os/progress.h"

#include "os/process_stat.h"
#include "os/sys.h"

#include <stdbool.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_nanos(pid_t process) {
  enum { USER_TICKS = 14, SYSTEM_TICKS = 15 };
  if (process == getpid()) {
    return clock_nanos(thread_cpu_clock(process));
  }
  uint64_t ticks = process_stat_number(process, USER_TICKS) + process_stat_number(process, SYSTEM_TICKS);
  return ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

struct progress progress_of(pid_t process) {
  return (struct progress){.process = process, .looked_nanos = clock_nanos(CLOCK_MONOTONIC), .cpu_nanos = cpu_nanos(process)};
}

void progress_look(struct progress *progress) {
  uint64_t now = clock_nanos(CLOCK_MONOTONIC), cpu = cpu_nanos(progress->process);
  bool sleeps = process_stat_state(progress->process) != 'R';
  progress->nanos += sleeps ? now - progress->looked_nanos : cpu - progress->cpu_nanos;
  progress->looked_nanos = now;
  progress->cpu_nanos = cpu;
}
