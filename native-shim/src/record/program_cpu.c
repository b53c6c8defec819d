#include "record/program_cpu.h"

#include "os/sys.h"
#include "session/blocks.h"
#include "session/family.h"

#include <time.h>
#include <unistd.h>

/*
 * Sums thread clocks: the process clock lacks what running threads have used since the last scheduler tick, which may be
 * milliseconds. For forked processes the kernel offers only the process clock.
 */
int64_t record_program_cpu_nanos(void) {
  static uint64_t total; /* only the agent's thread gets here */
  uint32_t pid = (uint32_t)getpid();
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    struct timespec used;
    if (thread->pid == pid && __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MDL_THREAD_LIVE &&
        clock_gettime(thread_cpu_clock((pid_t)thread->tid), &used) == 0) {
      uint64_t nanos = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
      if (nanos > thread->cpu_nanos) {
        total += nanos - thread->cpu_nanos;
        thread->cpu_nanos = nanos;
      }
    }
  }
  return (int64_t)(total + family_cpu_nanos());
}
