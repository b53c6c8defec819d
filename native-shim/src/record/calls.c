/*
 * Calls of whole functions, where the fast path (RecordingAssembler) does not do: a thread without a block, frames that
 * are left over, stacks that are no thread's own, exceptions.
 *
 * A trampoline takes the return address off the stack into a frame, and calls the body with the frame in RBX. So a frame
 * that is given to another call while its own has still to return is a lost return address.
 *
 * Assumes    A1 the body gives RBX back as it was (System V ABI, 3.2.1)
 *            A2 calls on one stack nest: a call at a higher address than a frame's outlives it, unless other stacks lie
 *               inside that stack. Alternate signal stacks there are looked for when it matters; contexts there
 *               are reported by swapcontext; others cannot be known
 *            A3 a call's return slot holds the stub's address as long as the call has not returned
 * Guarantees G1 a frame of the shadow stack is given away only when its call is gone, by A2
 *            G2 calls on other stacks than the thread's own have frames in the pool, which order of return, thread and
 *               process do not matter to
 *            G3 a handler may interrupt at any instruction and run probed functions: a frame is reserved before it is
 *               filled, and read before it is released
 * Progress   no lock, no allocation; without a free frame the function is called without being timed
 */
#include "record/calls.h"

#include "code/code.h"
#include "os/libgcc.h"
#include "os/own_memory.h"
#include "record/client.h"
#include "record/frames.h"
#include "record/mode.h"
#include "record/record.h"
#include "record/rows.h"
#include "record/thread.h"

#include <cpuid.h>
#include <errno.h>
#include <sys/mman.h>

enum {
  POOL = 1 << 16, /* frames */
  POOL_TRIES = 32,
  LEGACY_BYTES = 512, /* FXSAVE's area, with which XSAVE's begins */
  HEADER_BYTES = 64,
  RBX = 3, /* its number in DWARF */
};
/* x87, SSE, AVX, and the three of AVX-512. Not AMX's, which are large, and which no function takes arguments in. */
#define COMPONENTS 0xE7u

uint64_t calls_state_bytes = LEGACY_BYTES;
uint32_t calls_state_components;

static struct mdl_frame *pool;

/* Intel SDM vol. 1, 13.2: CPUID leaf 13. */
void calls_start(void) {
  uint32_t size, offset, low, high;
  if (pool) {
    return; /* of the process that has forked this one */
  }
  void *memory = own_memory_map(NULL, POOL * sizeof *pool, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                                0, INHERITED);
  pool = memory == MAP_FAILED ? NULL : memory;
  __cpuid(1, low, high, offset, size);
  if (!(offset & bit_OSXSAVE)) {
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
}

/* Whether the call with this key was reached by a sibling call of the function of `frame`, which has the same key: it
 * returns to that function's stub. */
static bool is_sibling_of(uint64_t key, const struct mdl_frame *frame) {
  const struct mdl_site *site = (const struct mdl_site *)frame->site;
  return site && *(const uint64_t *)(key - sizeof(uint64_t)) == site->stub + STUB_RETURN;
}

/* A 7 would make the frame's canonical frame address that of the body. */
static unsigned after(unsigned sibling) { return sibling == 6 ? 8 : sibling + 1; }

static void fill(struct mdl_frame *frame, struct mdl_site *site, uint64_t key, uint32_t weight, unsigned sibling,
                 unsigned flags) {
  frame->function = site->function;
  frame->site = (uintptr_t)site;
  frame->sibling = (uint8_t)sibling;
  frame->flags = (uint8_t)flags;
  frame->weight = weight;
  record_starts(frame);
  atomic_signal_fence(memory_order_seq_cst);
  __atomic_store_n(&frame->key, key, __ATOMIC_RELAXED);
}

/*
 * Open addressing by key. A frame with the key of a new call is that of a call which is gone, with its coroutine
 * maybe, unless the new one is its sibling.
 */
static struct mdl_frame *pooled(struct mdl_thread *thread, struct mdl_site *site, uint64_t key, uint32_t weight) {
  unsigned sibling = 0;
  uint64_t slot = (key * 0x9E3779B97F4A7C15ULL) >> 32;
  for (int i = 0; pool && i < POOL_TRIES; i++, slot++) {
    struct mdl_frame *frame = &pool[slot % POOL];
    uint64_t holder = __atomic_load_n(&frame->key, __ATOMIC_ACQUIRE);
    if (holder == key) {
      if (is_sibling_of(key, frame)) {
        sibling = after(sibling);
        continue;
      }
      if (!(frame->flags & (MDL_FRAME_UNWOUND | MDL_FRAME_UNTIMED))) {
        __atomic_fetch_add(&thread->unmatched, 1, __ATOMIC_RELAXED);
      }
    } else if (holder != 0 || !__atomic_compare_exchange_n(&frame->key, &holder, key, false, __ATOMIC_ACQ_REL,
                                                           __ATOMIC_RELAXED)) {
      continue;
    }
    fill(frame, site, key, weight, sibling, MDL_FRAME_POOLED);
    return frame;
  }
  return NULL;
}

static struct mdl_frame *stacked(struct mdl_thread *thread, struct mdl_site *site, uint64_t key, uint32_t weight) {
  const struct mdl_frame *base = (const struct mdl_frame *)thread->sp_base;
  unsigned sibling = 0;
  struct mdl_frame *last;
  for (;;) {
    last = (struct mdl_frame *)thread->sp - 1;
    if (last == base || last->key == 0 || last->key > key) {
      break;
    }
    if (last->key == key && is_sibling_of(key, last)) {
      sibling = after(last->sibling);
      break;
    }
    if (last->site && !record_shows_gone(thread, key)) {
      return pooled(thread, site, key, weight);
    }
    record_discard(thread, last);
  }
  if (thread->sp >= thread->sp_limit || sibling > UINT8_MAX) {
    return NULL;
  }
  struct mdl_frame *frame = last + 1;
  __atomic_store_n(&thread->sp, (uintptr_t)(frame + 1), __ATOMIC_RELAXED);
  atomic_signal_fence(memory_order_seq_cst);
  fill(frame, site, key, weight, sibling, 0);
  record_outermost(thread, frame);
  return frame;
}

static struct mdl_frame *push(struct mdl_thread *thread, struct mdl_site *site, uint64_t key, uint32_t weight) {
  const struct mdl_frame *base = (const struct mdl_frame *)thread->sp_base;
  bool own = key > thread->stack_low && key <= base->key;
  struct mdl_frame *frame = own ? stacked(thread, site, key, weight) : pooled(thread, site, key, weight);
  if (!frame) {
    __atomic_fetch_add(&thread->overflow, 1, __ATOMIC_RELAXED);
  }
  return frame;
}

/* A return that a client or snippets are to see needs a frame, whether the recorder times it or not. */
static struct mdl_frame *begin(struct mdl_site *site, uint64_t key, bool recording) {
  struct mdl_thread *thread = record_thread();
  uint32_t weight = 0;
  bool timed = thread && recording && record_begins(thread, site, &weight);
  bool seen = thread && (timed || (site->kind == MDL_WHOLE && code_has_user(site + 1)));
  struct mdl_frame *frame = seen ? push(thread, site, key, weight) : NULL;
  if (frame && !timed) {
    frame->flags |= MDL_FRAME_UNTIMED;
  }
  return frame;
}

/* The frame of the call that begins, NULL when its return is not to be seen. */
__attribute__((used)) struct mdl_frame *calls_enter(struct mdl_site *site, uint64_t key) {
  int error = errno;
  struct mdl_frame *frame = begin(site, key, true);
  errno = error;
  return frame;
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

/* The same where clients or snippets may be attached, and the recorder need not want the call. */
__attribute__((used)) struct mdl_frame *calls_enter_client(struct mdl_site *site, uint64_t key) {
  int error = errno;
  client_call(site, ((const struct mdl_function *)site->function)->address, key);
  struct mdl_frame *frame = begin(site, key, code_is_recording(site));
  errno = error;
  return frame;
}

__attribute__((used)) void calls_count_client(struct mdl_site *site, uint64_t key) {
  client_call(site, ((const struct mdl_function *)site->function)->address, key);
  if (code_is_recording(site)) {
    calls_count(site);
  }
}

/* A frame of another shadow stack is that of a call which a forked parent has made, and records. */
static void close_frame(struct mdl_thread *thread, const struct mdl_frame *frame, uint64_t now) {
  bool own = thread && (frame->flags & MDL_FRAME_POOLED || record_is_stacked(thread, frame));
  if (own && !(frame->flags & MDL_FRAME_UNWOUND)) {
    record_returns(thread, frame, now);
  }
}

__attribute__((used)) void calls_leave(struct mdl_frame *frame, uint64_t ticks) {
  int error = errno;
  struct mdl_thread *thread = record_known_thread();
  uint64_t began = thread ? __rdtsc() : 0;
  bool is_own = thread && record_is_stacked(thread, frame);
  if (is_own && (uintptr_t)(frame + 1) != thread->sp) {
    record_discard(thread, frame + 1);
  }
  close_frame(thread, frame, thread && is_cpu_time() ? record_now() : ticks);
  frame->flags = 0;
  frame->sibling = 0;
  __atomic_store_n(&frame->key, 0, __ATOMIC_RELEASE);
  if (is_own) {
    __atomic_store_n(&thread->sp, (uintptr_t)frame, __ATOMIC_RELAXED);
  }
  if (thread) {
    /* To restore the registers takes as long as it took to save them. */
    record_leaves_out(thread, __rdtsc() - ticks + (began - ticks));
  }
  errno = error;
}

/* The recorder first, so that it does not time the client. */
__attribute__((used)) void calls_leave_client(struct mdl_frame *frame, uint64_t ticks) {
  const struct mdl_site *site = (const struct mdl_site *)frame->site;
  uint64_t function = ((const struct mdl_function *)frame->function)->address;
  uint64_t key = frame->key;
  calls_leave(frame, ticks);
  client_call(site + 1, function, key);
}

/*
 * An exception, a cancelled thread or pthread_exit passes the frame of a trampoline that waits for its body. The frame
 * stays where it is: unwinders take the caller's registers from it later.
 */
_Unwind_Reason_Code calls_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                      struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
  static _Atomic(_Unwind_Word (*)(struct _Unwind_Context *, int)) get_register;
  static _Atomic(_Unwind_Ptr (*)(struct _Unwind_Context *)) get_address;
  (void)version, (void)class, (void)exception;
  if (!(actions & _UA_CLEANUP_PHASE)) {
    return _URC_CONTINUE_UNWIND;
  }
  if (!get_register) {
    *(void **)&get_address = unwinder_symbol("_Unwind_GetIP");
    *(void **)&get_register = unwinder_symbol("_Unwind_GetGR");
  }
  if (get_register && get_address) {
    uint64_t address = get_address(context);
    if (address % STUB_BYTES == STUB_RETURN) {
      struct mdl_frame *frame = (struct mdl_frame *)get_register(context, RBX);
      struct mdl_thread *thread = record_known_thread();
      close_frame(thread, frame, thread ? record_now() : 0);
      if (thread) {
        __atomic_fetch_add(&thread->unwound, 1, __ATOMIC_RELAXED);
      }
      frame->flags |= MDL_FRAME_UNWOUND;
    }
  }
  return _URC_CONTINUE_UNWIND;
}
