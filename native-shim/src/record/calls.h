/*
 * Calls of whole functions, off the fast path: shared by calls.c and calls.S.
 */
#ifndef MDL_CALLS_H
#define MDL_CALLS_H

#include "record/stub.h"

/* Offsets in struct mdl_call, for assembly code, and its size: the return address lies behind it. */
#define CALL_START 16
#define CALL_BYTES 24

/* In struct mdl_header, and enum mdl_header_flag. */
#define HEADER_FLAGS 156
#define CPU_TIME 8

/* In struct mdl_site. */
#define SITE_RECORDING 35

#define SITE_STUB 48

/* What a call that begins is, for the stub: such that a comparison with CALLS_UNSEEN sets CF and ZF as it wants them. */
#define CALLS_SIBLING 0 /* its caller has ended by jumping here, and is to be closed first */
#define CALLS_UNSEEN 1  /* nobody wants its return */
#define CALLS_SEEN 2

#ifndef __ASSEMBLER__
#include <mdl/layout.h>

static_assert(offsetof(struct mdl_call, start) == CALL_START && sizeof(struct mdl_call) == CALL_BYTES, "mdl_call");
static_assert(offsetof(struct mdl_header, flags) == HEADER_FLAGS && MDL_CPU_TIME == CPU_TIME, "CPU_TIME");
static_assert(offsetof(struct mdl_site, recording) == SITE_RECORDING && offsetof(struct mdl_site, stub) == SITE_STUB, "mdl_site");

/* Registers: see calls.S. */
void calls_entry_slow(void);
void calls_entry_cpu(void);
void calls_exit_slow(void);
void calls_sibling_slow(void);
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

/* What they call: in C, for a test. `call`: where its words are to be, or are. `ticks`: the time-stamp counter when the body
 * returned. */
uint64_t calls_enter(struct mdl_site *site, struct mdl_call *call);
void calls_leave(const struct mdl_call *call, const struct mdl_site *site, uint64_t ticks);

/* Behind its words lies where a call returns to; its canonical frame address is behind that. */
static inline uint64_t calls_return_address(const struct mdl_call *call) { return *(const uint64_t *)(call + 1); }
static inline uint64_t calls_key(const struct mdl_call *call) { return (uintptr_t)(call + 1) + sizeof(uint64_t); }

/* What its save area takes, and which components it saves; 0 components where the processor has no XSAVE. */
extern uint64_t calls_state_bytes;
extern uint32_t calls_state_components;
void calls_start(void);

#endif
#endif
