#include "session/kin.h"

#include "os/own_memory.h"
#include "os/self.h"
#include "session/owner.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

struct kin *kin;
_Atomic bool kin_has_probes;
uint32_t kin_noted;
_Atomic bool kin_is_separate;

bool kin_meet(void) {
  if (__atomic_load_n(&kin, __ATOMIC_ACQUIRE)) {
    return true;
  }
  void *memory = own_memory_map(NULL, sizeof *kin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0,
                                INHERITED);
  if (memory == MAP_FAILED) {
    return false;
  }
  struct kin *fresh = memory, *none = NULL;
  owner_create(fresh->agent);
  if (!__atomic_compare_exchange_n(&kin, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    own_memory_unmap(memory, sizeof *kin);
  }
  return true;
}

bool kin_take_agent(void) {
  if (!owner_take(kin->agent)) {
    return false;
  }
  if (atomic_load(&kin->state) == KIN_OVER) {
    owner_release(kin->agent);
    return false;
  }
  atomic_store(&kin->state, KIN_STARTING);
  atomic_store(&kin->agent_pid, (uint32_t)process_pid);
  atomic_store(&kin->pieces, 0); /* of an agent that has ended */
  kin_noted = 0;
  return true;
}

bool kin_has_agent(void) { return kin && process_pid && atomic_load(&kin->agent_pid) == (uint32_t)process_pid; }

void kin_agent_failed(void) {
  uint32_t starting = KIN_STARTING;
  if (kin_has_agent()) {
    atomic_compare_exchange_strong(&kin->state, &starting, KIN_OVER);
  }
}

void kin_go_without(uint32_t processes) {
  if (kin) {
    atomic_fetch_add(&kin->unprobed, processes);
  }
}

void kin_forget(void) {
  if (kin) {
    atomic_store(&kin_is_separate, true);
    own_memory_map(kin, sizeof *kin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0,
                   INHERITED);
  }
}

uint32_t kin_pieces(void) {
  uint32_t pieces = atomic_load(&kin->pieces);
  return pieces < KIN_PIECES ? pieces : KIN_PIECES;
}

/* Atomically replaced: another thread may be reading it. */
bool kin_separate(void) {
  if (!kin) {
    return true;
  }
  void *memory = mmap(NULL, sizeof *kin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  struct kin *fresh = memory;
  if (kin_has_agent()) {
    memcpy(fresh, kin, sizeof *kin);
    fresh->early = 0;
    fresh->unprobed = 0;
    kin_go_without(atomic_exchange(&kin->state, KIN_OVER) == KIN_STARTING ? kin->early : 0);
  } else {
    owner_create(fresh->agent);
    kin_go_without(1);
  }
  atomic_store(&kin_is_separate, true);
  return mremap(fresh, sizeof *kin, sizeof *kin, MREMAP_MAYMOVE | MREMAP_FIXED, kin) != MAP_FAILED;
}

bool kin_are_left;

void kin_begin_anew(void) {
  kin_are_left = false;
  __atomic_store_n(&kin, NULL, __ATOMIC_RELEASE); /* no other process shares the memory */
  atomic_store(&kin_is_separate, true);
}

void kin_note(enum kin_kind kind, uint64_t start, uint64_t length, uint64_t at, uint64_t image) {
  if (kin && atomic_load(&kin->state) == KIN_STARTING) {
    uint32_t number = atomic_fetch_add(&kin->pieces, 1);
    if (number < KIN_PIECES) {
      kin->piece[number] = (struct kin_piece){start, length, at, image, kind};
    }
    kin_noted = number + 1;
  }
}
