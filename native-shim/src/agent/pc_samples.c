/*
 * Samples of threads' program counters: the kernel's clock of a thread's CPU time writes one into a ring of the thread's
 * whenever a period has passed, if the thread is in user mode (perf_event_open(2)). The agent reads the rings. A thread is not
 * signalled, and does nothing for it.
 *
 * Rings are shared with the kernel: it alone advances data_head, the agent data_tail. Used by the agent's thread alone.
 */
#include "agent/pc_samples.h"

#include "agent/descriptors.h"
#include "os/self.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <mdl/api.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Pages of a ring besides the one that describes it, a power of two: unprivileged users may lock some hundred in all. */
enum { RING_PAGES = 2, SAMPLERS = MDL_PC_THREADS };

static struct {
  int descriptor;
  struct perf_event_mmap_page *ring; /* 0: it is free */
} samplers[SAMPLERS];
static pid_t owner; /* whose these are: a forked process has none of its parent's rings */

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static int64_t free_sampler(void) {
  if (owner != process_pid) {
    memset(samplers, 0, sizeof samplers);
    owner = process_pid;
  }
  for (int64_t i = 0; i < SAMPLERS; i++) {
    if (samplers[i].ring == NULL) {
      return i;
    }
  }
  return -EMFILE;
}

int64_t pc_samples_open(int64_t tid, uint64_t period_nanos) {
  if (!agent_has_own_descriptors) {
    return -EBADF;
  }
  /* A sandbox may kill who makes a call that it does not know. */
  if (prctl(PR_GET_SECCOMP) != 0) {
    return -EPERM;
  }
  int64_t sampler = free_sampler();
  if (sampler < 0) {
    return sampler;
  }
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof attributes,
      .config = PERF_COUNT_SW_TASK_CLOCK,
      .sample_period = period_nanos,
      .sample_type = PERF_SAMPLE_IP,
      .exclude_kernel = 1,
      .exclude_hv = 1,
      .watermark = 1, /* nobody waits for it */
      .wakeup_watermark = RING_PAGES * 4096,
      .remove_on_exec = 1, /* the program that takes the place of one of ours is none of ours */
  };
  int descriptor = (int)syscall(SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) {
    return -errno;
  }
  void *ring = mmap(NULL, (1 + RING_PAGES) * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (ring == MAP_FAILED) {
    int64_t error = -errno;
    close(descriptor);
    return error;
  }
  samplers[sampler].descriptor = descriptor;
  samplers[sampler].ring = ring;
  return sampler;
}

/* A record may lie at both ends of the ring. */
static void copy(void *to, const char *data, uint64_t size, uint64_t at, size_t length) {
  for (size_t i = 0; i < length; i++) {
    ((char *)to)[i] = data[(at + i) & (size - 1)];
  }
}

int64_t pc_samples_read(int64_t sampler, uint64_t *out, int64_t capacity) {
  struct perf_event_mmap_page *ring = samplers[sampler].ring;
  uint64_t size = RING_PAGES * page_size();
  const char *data = (const char *)ring + page_size();
  uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = ring->data_tail;
  int64_t count = 0;
  out[0] = 0;
  while (tail < head && count + 1 < capacity) {
    struct {
      struct perf_event_header header;
      uint64_t words[2];
    } record;
    copy(&record.header, data, size, tail, sizeof record.header);
    if (record.header.size < sizeof record.header) {
      tail = head; /* never so; without this the loop would not end */
      break;
    }
    if (record.header.type == PERF_RECORD_SAMPLE) {
      copy(&record.words[0], data, size, tail + sizeof record.header, sizeof record.words[0]);
      out[++count] = record.words[0];
    } else if (record.header.type == PERF_RECORD_LOST) {
      copy(record.words, data, size, tail + sizeof record.header, sizeof record.words);
      out[0] += record.words[1];
    }
    tail += record.header.size;
  }
  __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
  return count;
}

void pc_samples_close(int64_t sampler) {
  munmap(samplers[sampler].ring, (1 + RING_PAGES) * page_size());
  close(samplers[sampler].descriptor);
  samplers[sampler].ring = NULL;
}
