#include "record/block_counts.h"

#include "os/own_memory.h"
#include "os/sys.h"
#include "session/memory.h"

#include <asm/prctl.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_PLACE 0x70000000ULL
#define LAST_PLACE 0x50000000ULL
#define DISTANCE 0x01000000ULL

static bool reserve(uint64_t at, uint64_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *reserved = own_memory_map((void *)at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0, INHERITED);
  if (reserved != MAP_FAILED && reserved != (void *)at) { /* a kernel that does not know the flag */
    own_memory_unmap(reserved, bytes);
  }
  return reserved == (void *)at;
}

int64_t block_counts_open(uint64_t bytes) {
  for (uint64_t at = FIRST_PLACE; at >= LAST_PLACE; at -= DISTANCE) {
    if (reserve(at, bytes)) {
      return (int64_t)at;
    }
  }
  return -ENOMEM;
}

bool block_counts_join(void) {
  const struct mdl_blocks *blocks = (const struct mdl_blocks *)session->blocks;
  return !blocks || reserve(blocks->at, blocks->room);
}

static void set_base(uint64_t base) {
  enum { HWCAP2_FSGSBASE = 2 };
  if (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) {
    __asm__ volatile("wrgsbase %0" ::"r"(base));
  } else {
    raw_syscall(SYS_arch_prctl, ARCH_SET_GS, base);
  }
}

void block_counts_use(struct mdl_thread *thread) {
  const struct mdl_blocks *blocks = session ? (const struct mdl_blocks *)__atomic_load_n(&session->blocks, __ATOMIC_ACQUIRE) : NULL;
  if (blocks) {
    uint64_t row = thread ? session_allocate_once(&thread->block_counts, blocks->capacity * sizeof(uint64_t)) : 0;
    set_base(row ? row - blocks->at : 0);
  }
}
