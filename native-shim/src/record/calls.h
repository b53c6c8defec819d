/*
 * Calls of whole functions, off the fast path: shared by calls.c and calls.S.
 */
#ifndef MDL_CALLS_H
#define MDL_CALLS_H

/* Offsets in struct mdl_frame, for assembly code. */
#define FRAME_TSC 16
#define FRAME_RET 32
#define FRAME_RBX 40

/* In struct mdl_header, and enum mdl_session_flag. */
#define HEADER_FLAGS 156
#define CPU_TIME 8

/* In struct mdl_site. */
#define SITE_RECORDING 35

/* A stub's size, a multiple of which is its address, and where its body returns to (org.mdlagent.arch.x86.FunctionStub). */
#define STUB_BYTES 64
#define STUB_RETURN 43

#ifndef __ASSEMBLER__
#include <mdl/layout.h>

#include <unwind.h>

static_assert(offsetof(struct mdl_frame, tsc) == FRAME_TSC, "FRAME_TSC");
static_assert(offsetof(struct mdl_frame, ret) == FRAME_RET, "FRAME_RET");
static_assert(offsetof(struct mdl_frame, rbx) == FRAME_RBX, "FRAME_RBX");
static_assert(offsetof(struct mdl_header, flags) == HEADER_FLAGS && MDL_CPU_TIME == CPU_TIME, "CPU_TIME");
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

/* What they call: in C, for a test. `ticks`: the time-stamp counter when the body returned. */
struct mdl_frame *calls_enter(struct mdl_site *site, uint64_t key);
void calls_leave(struct mdl_frame *frame, uint64_t ticks);

/* What its save area takes, and which components it saves; 0 components where the processor has no XSAVE. */
extern uint64_t calls_state_bytes;
extern uint32_t calls_state_components;
void calls_start(void);

_Unwind_Reason_Code calls_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                      struct _Unwind_Exception *exception, struct _Unwind_Context *context);

#endif
#endif
