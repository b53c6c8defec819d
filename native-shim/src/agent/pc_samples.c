/*
 * Sampling of threads by perf_event_open(2): after each period of a thread's CPU time in user mode the kernel writes its
 * registers and the top of its stack into a ring. The agent reads the rings and unwinds. Threads get no signals and do no
 * work.
 *
 * There is one ring per processor. Each opened thread has an event on each processor, which threads and processes that it
 * creates inherit at no cost here. The kernel alone advances data_head, and the agent data_tail. Used by the agent's thread
 * only.
 *
 * Other software events than CPU time (pc_samples_choose) are sampled each time, in kernel mode, too, by two events: one
 * writes where the thread was in user mode, into a second ring, so that a burst finds room and counts are exact; the other
 * writes what unwinding needs, which may find none. An event without a stack is added to the path of the last one of its
 * thread with the same innermost code (call_paths_settle).
 */
#include "agent/pc_samples.h"

#include "agent/call_paths.h"
#include "agent/descriptors.h"
#include "agent/stack_path.h"
#include "agent/unwinder.h"
#include "os/self.h"
#include "os/sys.h"
#include "session/family.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * RING_BYTES: halved if the user may not lock as much per processor (perf_event_mlock_kb); less with many processors, which
 * are not all busy.
 */
enum {
  RING_BYTES = 1 << 20,
  RING_BYTES_EVENTS = 4 << 20, /* 26,000 places */
  RING_BYTES_MIN = 64 << 10,
  RINGS_BYTES_MAX = 32 << 20,
};

/* DWARF register numbers in the kernel's order (asm/perf_regs.h). */
static const uint8_t kernel_order[CFI_REGISTERS] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
#define REGISTER_MASK 0xff01ffULL

struct ring {
  struct perf_event_mmap_page *pages; /* NULL: none */
  int descriptor;
};

enum { PLACES, STACKS, RINGS }; /* of a processor, in the order in which they are read */

static struct {
  pid_t owner; /* the process that owns these; a forked child does not inherit them */
  struct ring (*ring)[RINGS];
  long processors;
  uint64_t bytes; /* size of a ring's data, a power of two */
  int *descriptors;
  size_t count, capacity;
  bool off;
} sampler;

/* enum perf_sw_ids */
static uint64_t sampled = PERF_COUNT_SW_TASK_CLOCK;

static bool counts_events(void) { return sampled != PERF_COUNT_SW_TASK_CLOCK; }

void pc_samples_choose(uint64_t event) { sampled = event; }

/* A sample as the kernel writes it (perf_event_open(2), in the order of sample_type); the number of copied bytes follows. */
struct sample {
  struct perf_event_header header;
  uint32_t pid, tid;
  uint64_t nanos;
  uint64_t abi;
  uint64_t registers[CFI_REGISTERS];
  uint64_t stack_bytes;
  uint8_t stack[STACK_BYTES];
  uint64_t copied;
};

/*
 * A sample without a stack. It has all registers: the kernel (6.18) computes the size of two events' records together, so a
 * part that both have must have the same size. For the same reason it must come first: later opened events do.
 */
struct place_sample {
  struct perf_event_header header;
  uint32_t pid, tid;
  uint64_t abi;
  uint64_t registers[CFI_REGISTERS]; /* missing with PERF_SAMPLE_REGS_ABI_NONE: the thread has ended its user mode */
};

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static int open_event(pid_t tid, int processor, uint64_t period, int kind) {
  static const uint64_t what[RINGS] = {
      [STACKS] = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
      [PLACES] = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER,
  };
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof attributes,
      .config = sampled,
      .sample_period = period,
      .sample_type = what[kind],
      .sample_regs_user = REGISTER_MASK,
      .sample_stack_user = kind == STACKS ? STACK_BYTES : 0,
      .exclude_kernel = !counts_events(),
      .exclude_hv = 1,
      .disabled = sampler.off,
      .inherit = 1,
      .use_clockid = 1,
      .clockid = CLOCK_MONOTONIC,
      .remove_on_exec = 1, /* a program that is executed in place of ours is not sampled */
  };
  int descriptor = (int)raw_syscall(SYS_perf_event_open, &attributes, tid, processor, -1, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

/* A processor's ring belongs to an event that never fires, so that each thread's events can be closed. */
static int open_ring(int processor, int kind) {
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof attributes,
      .config = PERF_COUNT_SW_DUMMY,
      .exclude_kernel = 1,
      .exclude_hv = 1,
      .use_clockid = 1, /* events of one ring must have the same clock */
      .clockid = CLOCK_MONOTONIC,
      .watermark = 1, /* no thread polls it */
      .wakeup_watermark = RING_BYTES,
  };
  struct ring *ring = &sampler.ring[processor][kind];
  int descriptor = (int)raw_syscall(SYS_perf_event_open, &attributes, 0, processor, -1, PERF_FLAG_FD_CLOEXEC);
  while (descriptor >= 0) {
    void *pages = mmap(NULL, page_size() + sampler.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (pages != MAP_FAILED) {
      madvise(pages, page_size() + sampler.bytes, MADV_DONTFORK);
      *ring = (struct ring){.pages = pages, .descriptor = descriptor};
      return 0;
    }
    if (errno != EPERM || sampler.bytes == RING_BYTES_MIN || sampler.count > 0) {
      int error = -errno;
      close(descriptor);
      return error;
    }
    sampler.bytes /= 2; /* other processes of this user have locked some */
  }
  return -errno;
}

static bool begin(void) {
  if (sampler.owner == process_pid) {
    return true;
  }
  memset(&sampler, 0, sizeof sampler);
  sampler.processors = sysconf(_SC_NPROCESSORS_CONF);
  sampler.ring = calloc((size_t)sampler.processors, sizeof *sampler.ring);
  sampler.bytes = counts_events() ? RING_BYTES_EVENTS : RING_BYTES;
  uint64_t rings = (uint64_t)sampler.processors * (counts_events() ? RINGS : 1);
  while (sampler.bytes > RING_BYTES_MIN && sampler.bytes * rings > RINGS_BYTES_MAX) {
    sampler.bytes /= 2;
  }
  sampler.owner = sampler.ring ? process_pid : 0;
  return sampler.ring != NULL;
}

static bool note(int descriptor) {
  if (sampler.count == sampler.capacity) {
    size_t capacity = 2 * sampler.capacity + 64;
    int *grown = realloc(sampler.descriptors, capacity * sizeof *grown);
    if (!grown) {
      return false;
    }
    sampler.descriptors = grown;
    sampler.capacity = capacity;
  }
  sampler.descriptors[sampler.count++] = descriptor;
  return true;
}

static int64_t open_on(pid_t tid, int processor, uint64_t period, int kind) {
  int descriptor = open_event(tid, processor, period, kind);
  if (descriptor < 0) {
    return descriptor == -ENODEV ? 0 : descriptor; /* -ENODEV: the processor is offline */
  }
  struct ring *ring = &sampler.ring[processor][kind];
  int error = ring->pages ? 0 : open_ring(processor, kind);
  if (error == 0 && ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, ring->descriptor) != 0) {
    error = -errno;
  }
  if (error == 0 && !note(descriptor)) {
    error = -ENOMEM;
  }
  if (error) {
    close(descriptor);
  }
  return error;
}

static void close_to(size_t count) {
  while (sampler.count > count) {
    close(sampler.descriptors[--sampler.count]);
  }
}

int64_t pc_samples_open(int64_t tid, uint64_t period, const struct mdl_process *process) {
  if (!agent_has_own_descriptors) {
    return -EBADF;
  }
  /* A sandbox may kill a process for an unknown system call. */
  if (raw_syscall(SYS_prctl, PR_GET_SECCOMP) != 0) {
    return -EPERM;
  }
  if (!begin()) {
    return -ENOMEM;
  }
  size_t before = sampler.count;
  for (int processor = 0; processor < sampler.processors; processor++) {
    int64_t error = open_on((pid_t)tid, processor, period, STACKS);
    if (!error && counts_events()) {
      error = open_on((pid_t)tid, processor, period, PLACES);
    }
    if (error) {
      close_to(before); /* a thread is sampled on all processors or on none */
      return error;
    }
  }
  /* A later exec closes the events. */
  if (process_has_ended(process)) {
    close_to(before);
    return -ESRCH;
  }
  unwinder_refresh();
  return call_paths_open(period, sampled) ? (int64_t)(sampler.bytes / sizeof(struct sample)) : -ENOMEM;
}

static void close_all(void) {
  for (long i = 0; i < sampler.processors * RINGS; i++) {
    struct ring *ring = &sampler.ring[i / RINGS][i % RINGS];
    if (ring->pages) {
      munmap(ring->pages, page_size() + sampler.bytes);
      close(ring->descriptor);
      ring->pages = NULL;
    }
  }
  close_to(0);
}

int64_t pc_samples_switch(int64_t on) {
  if (sampler.owner != process_pid) {
    return 0;
  }
  if (on < 0) {
    close_all();
    return 0;
  }
  sampler.off = !on;
  for (size_t i = 0; i < sampler.count; i++) {
    ioctl(sampler.descriptors[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  }
  return 0;
}

/* ---- reading */

/* A record may wrap around the end of the ring. */
static void copy(void *to, const char *data, uint64_t at, size_t length) {
  uint64_t from = at & (sampler.bytes - 1);
  size_t first = length < sampler.bytes - from ? length : sampler.bytes - from;
  memcpy(to, data + from, first);
  memcpy((char *)to + first, data, length - first);
}

static int64_t count_place(const struct place_sample *sample, struct mdl_pc_place *unknown, int64_t capacity, uint64_t weight) {
  uint32_t frames[FRAMES_OF_ADDRESS] = {FRAME_ELSEWHERE};
  uint64_t address = sample->registers[PERF_REG_X86_IP];
  if (sample->abi == PERF_SAMPLE_REGS_ABI_64 && call_paths_frames_at(address, frames) == 0) {
    struct stack_sample stack = {.few = true, .bytes = (const uint8_t *)""};
    stack.registers[CFI_RETURN] = address;
    struct stack_path path;
    int64_t unknowns = stack_path(&stack, (pid_t)sample->pid, unknown, capacity, &path);
    if (unknowns > 0) {
      return unknowns;
    }
    frames[0] = path.frames[0];
  }
  call_paths_count_of((int32_t)sample->tid, frames[0], weight);
  return 0;
}

static int64_t count_sample(const struct sample *sample, struct mdl_pc_place *unknown, int64_t capacity, uint64_t weight) {
  bool counted = counts_events(); /* by its sample without a stack */
  if (sample->header.size < sizeof *sample || sample->abi != PERF_SAMPLE_REGS_ABI_64 || sample->stack_bytes != STACK_BYTES) {
    call_paths_add_lost(counted ? 0 : weight); /* of a 32-bit program, or of a thread that has ended */
    return 0;
  }
  struct stack_sample stack = {.bytes = sample->stack, .length = sample->copied < STACK_BYTES ? sample->copied : STACK_BYTES};
  for (int i = 0; i < CFI_REGISTERS; i++) {
    int before = __builtin_popcountll(REGISTER_MASK & ((1ULL << kernel_order[i]) - 1));
    stack.registers[i] = sample->registers[before];
  }
  struct stack_path path;
  int64_t unknowns = stack_path(&stack, (pid_t)sample->pid, unknown, capacity, &path);
  if (unknowns > 0) {
    return unknowns;
  }
  struct sample_facts facts = {
      .address = path.address,
      .nanos = sample->nanos,
      .tid = (int32_t)sample->tid,
      .pid = (int32_t)sample->pid,
  };
  (counted ? call_paths_add_path_of : call_paths_add)(path.frames, path.length, &facts, weight);
  if (path.end == STACK_CUT) {
    call_paths_add_cut(weight);
  } else if (path.end == STACK_UNKNOWN) {
    call_paths_add_without_table(weight);
  }
  return 0;
}

static int64_t take(struct perf_event_mmap_page *pages, int kind, struct mdl_pc_place *unknown, int64_t capacity, uint64_t weight) {
  static struct sample record;
  const char *data = (const char *)pages + page_size();
  uint64_t head = __atomic_load_n(&pages->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = pages->data_tail;
  int64_t unknowns = 0;
  while (tail < head) {
    copy(&record.header, data, tail, sizeof record.header);
    if (record.header.size < sizeof record.header) {
      tail = head; /* impossible; guards against an endless loop */
      break;
    }
    copy(&record, data, tail, record.header.size < sizeof record ? record.header.size : sizeof record);
    if (record.header.type == PERF_RECORD_SAMPLE) {
      unknowns = kind == PLACES ? count_place((const struct place_sample *)&record, unknown, capacity, weight)
                                : count_sample(&record, unknown, capacity, weight);
      if (unknowns > 0) {
        break;
      }
    } else if (record.header.type == PERF_RECORD_LOST && (kind == PLACES || !counts_events())) {
      uint64_t lost; /* after the event's id */
      memcpy(&lost, (const char *)&record + sizeof record.header + sizeof lost, sizeof lost);
      call_paths_add_lost(lost * weight);
    }
    tail += record.header.size;
  }
  __atomic_store_n(&pages->data_tail, tail, __ATOMIC_RELEASE);
  return unknowns;
}

int64_t pc_samples_take(struct mdl_pc_place *unknown, int64_t capacity, int64_t weight) {
  if (sampler.owner != process_pid || sampler.count == 0) {
    return 0;
  }
  if (unwinder_refresh()) {
    call_paths_forget();
  }
  for (long i = 0; i < sampler.processors * RINGS; i++) {
    struct perf_event_mmap_page *pages = sampler.ring[i / RINGS][i % RINGS].pages;
    int64_t unknowns = pages ? take(pages, (int)(i % RINGS), unknown, capacity, (uint64_t)weight) : 0;
    if (unknowns > 0) {
      return unknowns;
    }
  }
  if (counts_events()) {
    call_paths_settle();
  }
  return 0;
}
