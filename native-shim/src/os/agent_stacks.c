#include "os/agent_stacks.h"

#include "os/next.h"
#include "os/own_memory.h"
#include "os/sys.h"

#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACKS = 256, PAGE = 4096 };

/* State of a stack: unused, reserved for a new thread, the thread's id, or minus the id while libc ends the thread. A
 * thread that ends by the exit system call keeps its stack for ever, because libc's lists point to it. */
enum { NOBODY = 0, COMING = INT32_MAX };

static struct stack_slot {
  _Atomic int tid;
  uint64_t low; /* above the guard page */
  size_t bytes;
} slots[STACKS];

static bool is_gone(int tid) { return raw_syscall(SYS_tgkill, getpid(), tid, 0) != 0; }

/* A new stack, or a used one that has been reset. */
static bool prepare(struct stack_slot *slot, size_t bytes) {
  int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void *at = slot->low ? (void *)(slot->low - PAGE) : NULL;
  void *memory = own_memory_map(at, PAGE + bytes, PROT_NONE, kind | (at ? MAP_FIXED : 0), -1, 0, STAYS);
  if (memory == MAP_FAILED) {
    return false;
  }
  slot->low = (uintptr_t)memory + PAGE;
  slot->bytes = bytes;
  return mprotect((void *)slot->low, bytes, PROT_READ | PROT_WRITE) == 0;
}

static bool take(struct stack_slot *slot, size_t bytes) {
  int tid = atomic_load(&slot->tid);
  if (tid != NOBODY && (tid > 0 || slot->bytes != bytes || !is_gone(-tid))) {
    return false;
  }
  if (!atomic_compare_exchange_strong(&slot->tid, &tid, COMING)) {
    return false;
  }
  if ((slot->low && slot->bytes != bytes) || !prepare(slot, bytes)) {
    atomic_store(&slot->tid, tid);
    return false;
  }
  return true;
}

static int add_tls(struct dl_phdr_info *library, size_t size, void *sum) {
  (void)size;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type == PT_TLS) {
      *(size_t *)sum += segment->p_memsz + segment->p_align;
    }
  }
  return 0;
}

/* Libc puts the thread-local variables of the libraries that the program began with on top of each stack, so a stack has to
 * be larger by these. */
static size_t tls_bytes(void) {
  static _Atomic size_t known;
  size_t bytes = atomic_load(&known);
  if (bytes == 0) {
    next()->dl_iterate_phdr(add_tls, &bytes);
    atomic_store(&known, bytes);
  }
  return bytes;
}

bool agent_stack_give(pthread_attr_t *attributes) {
  int state;
  size_t bytes;
  if (pthread_attr_getdetachstate(attributes, &state) != 0 || state != PTHREAD_CREATE_DETACHED ||
      pthread_attr_getstacksize(attributes, &bytes) != 0) {
    return false;
  }
  bytes = (bytes + tls_bytes() + PAGE - 1) & ~(size_t)(PAGE - 1);
  for (int i = 0; i < STACKS; i++) {
    if (take(&slots[i], bytes)) {
      return pthread_attr_setstack(attributes, (void *)slots[i].low, bytes) == 0;
    }
  }
  return false;
}

static struct stack_slot *slot_of(uint64_t address) {
  for (int i = 0; i < STACKS; i++) {
    if (atomic_load(&slots[i].tid) != NOBODY && address >= slots[i].low && address < slots[i].low + slots[i].bytes) {
      return &slots[i];
    }
  }
  return NULL;
}

void agent_stack_take_back(const pthread_attr_t *attributes) {
  void *low;
  size_t bytes;
  struct stack_slot *slot = NULL;
  if (pthread_attr_getstack(attributes, &low, &bytes) == 0) {
    slot = slot_of((uintptr_t)low);
  }
  if (slot) {
    atomic_store(&slot->tid, NOBODY);
  }
}

void agent_stack_enter(void) {
  uint64_t here = (uintptr_t)__builtin_frame_address(0);
  struct stack_slot *slot = slot_of(here);
  if (slot) {
    atomic_store(&slot->tid, (int)raw_syscall(SYS_gettid));
    madvise((void *)slot->low, (here & ~(uint64_t)(PAGE - 1)) - slot->low, MADV_DONTFORK);
  }
}

void agent_stack_leave(void) {
  struct stack_slot *slot = slot_of((uintptr_t)__builtin_frame_address(0));
  if (slot) {
    atomic_store(&slot->tid, -(int)raw_syscall(SYS_gettid));
  }
}

void agent_stacks_forked(void) {
  for (int i = 0; i < STACKS; i++) {
    atomic_store(&slots[i].tid, NOBODY);
    slots[i].low = 0;
    slots[i].bytes = 0;
  }
}
