/*
 * Calls of whole functions, off the fast path: shared by record.c, calls.c and calls.S.
 */
#ifndef MDL_CALLS_H
#define MDL_CALLS_H

/* Offsets in struct mdl_frame, for assembly code. */
#define FRAME_RET 32
#define FRAME_RBX 40

/* In struct mdl_site. */
#define SITE_RECORDING 27

/* A stub's size, a multiple of which is its address, and where its body returns to (org.mdlagent.arch.x86.FunctionStub). */
#define STUB_BYTES 64
#define STUB_RETURN 43

#ifndef __ASSEMBLER__
#include "shim.h"

#include <unwind.h>

static_assert(offsetof(struct mdl_frame, ret) == FRAME_RET, "FRAME_RET");
static_assert(offsetof(struct mdl_frame, rbx) == FRAME_RBX, "FRAME_RBX");
static_assert(offsetof(struct mdl_site, recording) == SITE_RECORDING, "SITE_RECORDING");

/* Registers: see calls.S. */
void calls_entry_slow(void);
void calls_exit_slow(void);
void calls_count_slow(void);
/* The same where a client may be attached. */
void calls_entry_client(void);
void calls_exit_client(void);
void calls_count_client_entry(void);
void calls_hook_entry(void);
void calls_hook_exit(void);
void calls_values(void);
void calls_values_framed(void);
void calls_snippet_call(void);
void calls_snippet_call_framed(void);

/* What they call: in C, for a test. */
struct mdl_frame *calls_enter(struct mdl_site *site, uint64_t key);
void calls_leave(struct mdl_frame *frame);

/* What its save area takes, and which components it saves; 0 components where the processor has no XSAVE. */
extern uint64_t calls_state_bytes;
extern uint32_t calls_state_components;
void calls_start(void);

_Unwind_Reason_Code calls_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                      struct _Unwind_Exception *exception, struct _Unwind_Context *context);

/* ---- of record.c */

/* The calling thread's block, made if need be; NULL when it records nothing. */
struct mdl_thread *record_thread(void);
/* The same, but none is made. */
struct mdl_thread *record_known_thread(void);
/* Counts a call; whether it is to be timed. */
bool record_begins(struct mdl_thread *thread, struct mdl_site *site);
void record_returns(struct mdl_thread *thread, const struct mdl_frame *frame, uint64_t now);
/* By what durations are measured: ticks, or nanoseconds of the calling thread's CPU time; 0 when that is not known any more. */
uint64_t record_now(void);
/* Notes that the frame's call begins now. */
void record_starts(struct mdl_frame *frame);
/* Releases the frames from the top down to this one; those that nothing closed are counted. */
void record_discard(struct mdl_thread *thread, struct mdl_frame *last);
/* Whether the frame is on the thread's shadow stack. */
bool record_is_stacked(const struct mdl_thread *thread, const struct mdl_frame *frame);
bool record_shows_gone(struct mdl_thread *thread, uint64_t key);

/* ---- snippets.c */

/* The calling thread has taken the block. */
void snippets_begin(struct mdl_thread *thread);
/* It gives it up: what runs for it ends. */
void snippets_end(struct mdl_thread *thread);
/* The calling thread's values, made if need be; NULL when there is no memory, or the thread records nothing. */
uint64_t *snippets_values(void);
/* Arguments that a snippet's call of a function can have. */
#define SNIPPET_ARGUMENTS 6
struct snippet_result {
  uint64_t result;
  uint64_t *values; /* of the thread that goes on; NULL when nothing was called */
};
/* Calls a function of the program for a snippet, unless the thread is in such a call. */
struct snippet_result snippets_call(uint64_t function, const uint64_t arguments[SNIPPET_ARGUMENTS]);

/* ---- stack.c */

/* The stack that the calling thread was given, [low, high): the one that is running, should it be another. */
struct stack {
  uint64_t low, high;
};
struct stack stack_of_thread(void);

#endif
#endif
