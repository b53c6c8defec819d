#include "agent/waits.h"

#include "agent/call_paths.h"
#include "agent/stack_path.h"
#include "os/own_memory.h"
#include "os/self.h"
#include "os/sys.h"
#include "record/slow_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <x86intrin.h>

enum { THREAD_SLOTS = 2 * MDL_PC_THREADS /* a power of two */, PAGE = 4096 };

/* A thread's scheduler statistics so far. */
struct scheduled {
  uint64_t cpu_nanos, delay_nanos; /* on processors; waiting for one */
  uint64_t runs;                   /* how often a processor switched to it */
};

struct thread {
  int32_t tid; /* 0: free */
  uint32_t node;
  bool waits;     /* on the path of `node`, since `scheduled.runs` */
  bool refused;   /* the kernel does not tell where it waits, and may log each attempt (Yama) */
  uint64_t nanos; /* when `scheduled` was read */
  struct scheduled scheduled;
  int64_t off_nanos; /* off the processors, not yet added to a path */
  uint64_t seen;     /* with `waits`: slow_calls_saw_wait */
};

/* One mapping; forked children do not inherit it. */
static struct threads {
  uint32_t count;
  struct thread thread[THREAD_SLOTS];
} *threads;
static pid_t owner;

static struct thread *thread_of(int32_t tid) {
  if (owner != process_pid) {
    void *made = own_memory_map(NULL, sizeof *threads, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, STAYS);
    threads = made == MAP_FAILED ? NULL : made;
    owner = process_pid;
  }
  if (!threads) {
    return NULL;
  }
  if (threads->count == MDL_PC_THREADS) {
    memset(threads, 0, sizeof *threads); /* most of them have ended */
  }
  for (uint32_t i = (uint32_t)tid * 0x9E3779B9u;; i++) {
    struct thread *at = &threads->thread[i & (THREAD_SLOTS - 1)];
    if (at->tid == 0) {
      threads->count++;
      at->tid = tid;
    }
    if (at->tid == tid) {
      return at;
    }
  }
}

static void read_file(pid_t pid, int32_t tid, const char *name, char *text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
  read_text(path, text, capacity);
}

/* False if the thread has ended, or if the kernel has no such statistics. */
static bool read_scheduled(pid_t pid, int32_t tid, struct scheduled *scheduled) {
  char text[80], *at = text;
  read_file(pid, tid, "schedstat", text, sizeof text);
  scheduled->cpu_nanos = strtoull(at, &at, 10);
  scheduled->delay_nanos = strtoull(at, &at, 10);
  scheduled->runs = strtoull(at, &at, 10);
  return scheduled->runs > 0;
}

/* The last two numbers are the stack pointer and the instruction; a thread on a processor has none. */
static bool read_place(pid_t pid, struct thread *thread, struct stack_sample *stack) {
  char text[256];
  read_file(pid, thread->tid, "syscall", text, sizeof text);
  thread->refused = text[0] == 0;
  char *last = strrchr(text, ' ');
  if (!last) {
    return false;
  }
  stack->registers[CFI_RETURN] = strtoull(last, NULL, 16);
  *last = 0;
  char *pointer = strrchr(text, ' ');
  stack->registers[CFI_RSP] = pointer ? strtoull(pointer, NULL, 16) : 0;
  return stack->registers[CFI_RSP] != 0;
}

/* Returns the bytes copied: the stack may end before. */
static uint64_t copy_stack(pid_t pid, uint64_t from, uint8_t *to) {
  struct iovec local = {.iov_base = to, .iov_len = STACK_BYTES}, remote[STACK_BYTES / PAGE + 1];
  size_t pieces = 0;
  for (uint64_t at = from; at < from + STACK_BYTES;) {
    uint64_t end = (at / PAGE + 1) * PAGE < from + STACK_BYTES ? (at / PAGE + 1) * PAGE : from + STACK_BYTES;
    remote[pieces++] = (struct iovec){.iov_base = (void *)at, .iov_len = end - at};
    at = end;
  }
  ssize_t copied = process_vm_readv(pid, &local, 1, remote, pieces, 0);
  return copied < 0 ? 0 : (uint64_t)copied;
}

/* Adds the time since the last call to `off_nanos`. False if that was the first one. */
static bool add_time(struct thread *thread, const struct scheduled *scheduled) {
  struct thread before = *thread;
  thread->nanos = clock_nanos(CLOCK_MONOTONIC);
  thread->scheduled = *scheduled;
  thread->waits = before.waits && before.scheduled.runs == scheduled->runs;
  if (before.nanos == 0 || scheduled->runs < before.scheduled.runs || scheduled->cpu_nanos < before.scheduled.cpu_nanos) {
    thread->off_nanos = 0; /* the first look, or the id has been reused */
    thread->waits = thread->refused = false;
    return false;
  }
  uint64_t busy = scheduled->cpu_nanos - before.scheduled.cpu_nanos + scheduled->delay_nanos - before.scheduled.delay_nanos;
  thread->off_nanos += (int64_t)(thread->nanos - before.nanos - busy); /* negative while statistics lag behind */
  return true;
}

static void settle(struct thread *thread) {
  if (thread->off_nanos > 0) {
    call_paths_add_wait(thread->node, (uint64_t)thread->off_nanos);
    thread->off_nanos = 0;
  }
}

int64_t waits_take(int64_t tid, int64_t pid, struct mdl_pc_place *unknown) {
  static uint8_t copied[STACK_BYTES];
  struct scheduled scheduled, now;
  struct thread *thread = thread_of((int32_t)tid);
  if (!thread || !read_scheduled((pid_t)pid, (int32_t)tid, &scheduled) || !add_time(thread, &scheduled)) {
    return 0;
  }
  if (thread->waits) {
    settle(thread); /* it has not run since */
    slow_calls_saw_wait((int32_t)tid, (int32_t)pid, thread->node, __rdtsc(), true, &thread->seen);
    return 0;
  }
  struct stack_sample stack = {.few = true, .bytes = copied};
  if (thread->refused || !read_place((pid_t)pid, thread, &stack)) {
    return 0;
  }
  stack.length = copy_stack((pid_t)pid, stack.registers[CFI_RSP], copied);
  if (!read_scheduled((pid_t)pid, (int32_t)tid, &now) || now.runs != scheduled.runs) {
    return 0; /* it has run while its stack was copied */
  }
  if (unwinder_refresh()) {
    call_paths_forget();
  }
  struct stack_path path;
  int64_t unknowns = stack_path(&stack, (pid_t)pid, unknown, MDL_PC_PLACES, &path);
  if (unknowns == 0) {
    thread->node = call_paths_node(path.frames, path.length);
    thread->waits = true;
    slow_calls_saw_wait((int32_t)tid, (int32_t)pid, thread->node, __rdtsc(), false, &thread->seen);
    settle(thread);
  }
  return unknowns;
}
