/*
 * What a thread does that meets a trapping byte.
 *
 * A patcher that replaces an instruction in more than one store puts INT3 in front of it meanwhile; a jump over several
 * instructions has INT3, or a byte that is no instruction, over the head of each (PunView.java). Threads that fetch them
 * get SIGTRAP or SIGILL, and are sent on by header.traps; TrapTable.java, which writes that table, states the protocol.
 * trap_redirect() runs in signal context, on any thread, with any lock held by the code that it interrupted: no malloc,
 * no stdio, no locks, no calls.
 *
 * The kernel ends a process that traps while the signal is blocked. process/masks.c keeps both out of all masks that the
 * application sets, but libc blocks all signals by itself, where nothing can stand in front of it: in fork,
 * pthread_create, abort, posix_spawn, the threads that serve timers. So no site in libc, in the loader or in this
 * library may ever need a trapping byte.
 */
#include "code/trap.h"

#include "session/memory.h"

#include <signal.h>
#include <stddef.h>
#include <x86intrin.h>

#ifndef SI_KERNEL
#define SI_KERNEL 0x80
#endif

enum { INT3 = 0xCC };

static struct mdl_trap *row_of(uint64_t address) {
  if (!session) {
    return NULL;
  }
  const struct mdl_trap_index *index =
      (const struct mdl_trap_index *)__atomic_load_n(&session->traps, __ATOMIC_ACQUIRE);
  if (!index) {
    return NULL;
  }
  for (uint64_t slot = (address * 0x9E3779B97F4A7C15ULL) >> 32;; slot++) {
    struct mdl_trap *row = (struct mdl_trap *)__atomic_load_n(&index->rows[slot & index->mask], __ATOMIC_ACQUIRE);
    if (!row || row->address == address) {
      return row;
    }
  }
}

bool trap_redirect(int signal, int code, ucontext_t *context) {
  greg_t *registers = context->uc_mcontext.gregs;
  bool after_int3 = signal == SIGTRAP && code == SI_KERNEL;
  bool undefined = signal == SIGILL && code == ILL_ILLOPN;
  if (!after_int3 && !undefined) {
    return false;
  }
  /* RIP is after an INT3, but at an undefined instruction. */
  uint64_t address = (uint64_t)registers[REG_RIP] - after_int3;
  struct mdl_trap *row = row_of(address);
  if (!row) {
    /* Rows are permanent and are published before their byte, so this trap was never one of ours. */
    return false;
  }
  __atomic_fetch_add(&row->hits, 1, __ATOMIC_RELAXED);
  uint64_t action = __atomic_load_n(&row->action, __ATOMIC_ACQUIRE);
  uint64_t target = action & ((1ULL << MDL_TRAP_LENGTH_SHIFT) - 1);
  switch (action >> MDL_TRAP_KIND_SHIFT) {
    case MDL_TRAP_CALL:
      /* As the instruction: what lies below the stack pointer is overwritten. */
      registers[REG_RSP] -= 8;
      *(uint64_t *)registers[REG_RSP] = address + ((action >> MDL_TRAP_LENGTH_SHIFT) & 0xFF);
      registers[REG_RIP] = (greg_t)target;
      break;
    case MDL_TRAP_JUMP:
      registers[REG_RIP] = (greg_t)target;
      break;
    case MDL_TRAP_SPIN:
      while (__atomic_load_n((const uint8_t *)address, __ATOMIC_RELAXED) == INT3) {
        _mm_pause();
      }
      registers[REG_RIP] = (greg_t)address;
      break;
    default:
      registers[REG_RIP] = (greg_t)address;
      break;
  }
  return true;
}
