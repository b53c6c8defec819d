/*
 * Calls of whole functions, where the fast path (WholeCallAssembler) does not do: a thread without a block, a row without
 * memory, clients.
 *
 * A stub is a plain wrapper around its function: it lays the words of the call (struct mdl_call) below the return address,
 * calls the body, and drops them. Nothing that the program has is taken from its place.
 *
 * Assumes    A1 whoever runs below the stub reads no arguments from the stack, where they lie 32 bytes further: its function
 *               does not, nor one that it leaves to by a sibling call (org.mdlagent.fastinst.provider.StackArguments)
 *            A2 no code of a program stores below its stack pointer, with a displacement of four bytes where one is
 *               enough, right before lowering it, as a stub does: so an address that such bytes stand before is a stub's
 * Guarantees G1 a sibling call does not grow the stack: the stub that finds another's return address on top has been jumped
 *               to. That call ends, its words are dropped, and the stub begins again
 *            G2 a call that a jump or an exception leaves has no end, and nothing is left of it
 *            G3 in whichever thread and on whichever stack it returns, a call finds its words; it is recorded unless a
 *               process that has forked this one has made it
 *            G4 a handler may interrupt at any instruction and run probed functions
 * Progress   no lock, no allocation
 */
#include "record/calls.h"

#include "code/code.h"
#include "record/client.h"
#include "record/mode.h"
#include "record/record.h"
#include "record/rows.h"
#include "record/side_memory.h"
#include "record/slow_calls.h"
#include "record/thread.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>

enum {
  LEGACY_BYTES = 512, /* FXSAVE's area, with which XSAVE's begins */
  HEADER_BYTES = 64,
};
/* x87, SSE, AVX, and the three of AVX-512. Not AMX's: they are large and never hold arguments. */
#define COMPONENTS 0xE7u

uint64_t calls_state_bytes = LEGACY_BYTES;
uint32_t calls_state_components;

/* Intel SDM vol. 1, 13.2: CPUID leaf 13. */
void calls_start(void) {
  uint32_t size, offset, low, high;
  __cpuid(1, low, high, offset, size);
  if (!(offset & bit_OSXSAVE)) {
    side_memory_start(calls_state_bytes);
    return;
  }
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  uint32_t components = low & COMPONENTS;
  uint64_t bytes = LEGACY_BYTES + HEADER_BYTES;
  for (uint32_t i = 2; i < 32; i++) {
    if (components & 1u << i) {
      uint32_t unused;
      __cpuid_count(13, i, size, offset, unused, unused);
      bytes = offset + size > bytes ? offset + size : bytes;
    }
  }
  calls_state_bytes = bytes;
  calls_state_components = components;
  side_memory_start(bytes);
}

/* The site of the stub whose return address is `address`, or NULL. */
static const struct mdl_site *stub_around(uint64_t address) {
  enum { BEHIND_JUMP = 5 }; /* a jump to the counter may replace the first instruction */
  static const uint8_t mark[STUB_SITE - BEHIND_JUMP] = {0xFF, 0xFF, 0xFF,       /* mov %r11,-40(%rsp) */
                                                        0x48, 0x83, 0xEC, CALL_BYTES, /* sub $24,%rsp */
                                                        0x49, 0xBB};            /* movabs $site,%r11 */
  const uint8_t *stub = (const uint8_t *)(address - STUB_RETURN);
  return address % STUB_BYTES == STUB_RETURN && memcmp(stub + BEHIND_JUMP, mark, sizeof mark) == 0
             ? *(const struct mdl_site *const *)(stub + STUB_SITE)
             : NULL;
}

/* Whether another call has ended in this one by a sibling call. False if a client or snippets wait for the return of the other
 * call: they run at its stub, so its words must stay. */
static bool is_sibling(const struct mdl_call *call) {
  const struct mdl_site *of = stub_around(calls_return_address(call));
  return of && !code_has_user(of + 1);
}

/* Whether the call is in the first quarter of the stack, so that the words of calls cannot exhaust it. */
static bool has_room(const struct mdl_thread *thread, const struct mdl_call *call) {
  return (uintptr_t)call - thread->stack_low >= thread->stack_room;
}

/* Clients and snippets at the return need the call's words even if the recorder does not time the call. */
static uint64_t begin(struct mdl_site *site, struct mdl_call *call, bool recording) {
  struct mdl_thread *thread = record_thread();
  uint32_t weight = 0;
  bool timed = thread && recording && record_begins(thread, site, &weight);
  bool seen = thread && (timed || (site->kind == MDL_WHOLE && code_has_user(site + 1)));
  if (seen && !has_room(thread, call)) {
    __atomic_fetch_add(&thread->overflow, 1, __ATOMIC_RELAXED);
    return CALLS_UNSEEN;
  }
  if (timed) {
    record_starts(thread, call, (const struct mdl_function *)site->function, weight);
  } else if (seen) {
    call->inside = MDL_CALL_UNTIMED;
  }
  return seen ? CALLS_SEEN : CALLS_UNSEEN;
}

__attribute__((used)) uint64_t calls_enter(struct mdl_site *site, struct mdl_call *call) {
  int error = errno;
  uint64_t what = is_sibling(call) ? CALLS_SIBLING : begin(site, call, true);
  errno = error;
  return what;
}

/* A call whose words are complete begins: the clock is read for it again when this returns. */
__attribute__((used)) uint64_t calls_read_cpu(void) {
  int error = errno;
  slow_calls_read_cpu(mdl_self);
  errno = error;
  return CALLS_SEEN;
}

__attribute__((used)) void calls_count(struct mdl_site *site) {
  int error = errno;
  struct mdl_thread *thread = record_thread();
  uint32_t weight;
  if (thread) {
    record_begins(thread, site, &weight);
  }
  errno = error;
}

/* As calls_enter(), for sites with clients or snippets: the recorder may be off. */
__attribute__((used)) uint64_t calls_enter_client(struct mdl_site *site, struct mdl_call *call) {
  if (is_sibling(call)) {
    return CALLS_SIBLING; /* the client comes when the stub begins again */
  }
  int error = errno;
  client_call(site, ((const struct mdl_function *)site->function)->address, calls_key(call));
  uint64_t what = begin(site, call, code_is_recording(site));
  errno = error;
  return what;
}

__attribute__((used)) void calls_count_client(struct mdl_site *site, const uint64_t *stack) {
  client_call(site, ((const struct mdl_function *)site->function)->address, (uintptr_t)(stack + 1));
  if (code_is_recording(site)) {
    calls_count(site);
  }
}

/* A coroutine may return in a thread that has no block yet. */
static struct mdl_thread *thread_of(const struct mdl_call *call) {
  return mdl_self || call->before < record_born() ? record_known_thread() : record_thread();
}

__attribute__((used)) void calls_leave(const struct mdl_call *call, const struct mdl_site *site, uint64_t ticks) {
  int error = errno;
  struct mdl_thread *thread = call->inside & MDL_CALL_UNTIMED ? NULL : thread_of(call);
  if (thread) {
    uint64_t began = __rdtsc();
    uint64_t returned = ticks ? ticks : began;
    uint64_t ended = record_ended(call, returned);
    record_returns(thread, call, (struct mdl_function *)site->function, calls_return_address(call), 0,
                   is_cpu_time() ? record_now() : ended);
    /* Restoring the registers takes as long as saving them did. */
    record_leaves_out(thread, __rdtsc() - ended + (began - returned));
  }
  errno = error;
}

/* The recorder first, so that it does not time the client. */
__attribute__((used)) void calls_leave_client(const struct mdl_call *call, const struct mdl_site *site, uint64_t ticks) {
  calls_leave(call, site, ticks);
  client_call(site + 1, ((const struct mdl_function *)site->function)->address, calls_key(call));
}
