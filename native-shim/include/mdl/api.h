/*
 * What the shim offers to the Java agent: one table of addresses, handed to
 * org.mdlagent.runtime.Agent.start(long). Java's side is org.mdlagent.arch.NativeApi; a test compares the two.
 * Everything here is mechanism; what to patch, and when, is decided in Java.
 */
#ifndef MDL_API_H
#define MDL_API_H

#include <mdl/layout.h>

/* An image that the dynamic linker has loaded. */
struct mdl_image {
  uint64_t bias;    /*  0 load address minus link address */
  uint64_t headers; /*  8 address of the program headers */
  uint32_t count;   /* 16 of program headers */
  uint32_t pad;     /* 20 */
  char path[4096];  /* 24 "" for the executable is resolved to its real path */
};

/* Text whose copy may take its place. */
struct mdl_text {
  uint64_t start;  /*  0 */
  uint64_t length; /*  8 */
  uint64_t alias;  /* 16 where the copy can be written to */
  uint64_t mark;   /* 24 what the text was when it was copied; 0 when the program has changed it since, or may write to it */
};

/* An instruction, as far as moving it elsewhere, and threads around it, needs to know it. */
enum mdl_instruction_kind {
  MDL_PLAIN = 0,            /* the same wherever it stands */
  MDL_RIP_RELATIVE = 1,     /* one memory operand is relative to its end */
  MDL_CALL = 2,             /* direct */
  MDL_JUMP = 3,             /* direct */
  MDL_CONDITIONAL_JUMP = 4, /* by flags */
  MDL_COUNTED_JUMP = 5,     /* jrcxz, jecxz, loop, loope, loopne: 8-bit displacement only */
  MDL_TRANSACTION = 6,      /* xbegin: a relative fall-back address */
  MDL_INDIRECT_CALL = 7,    /* its operand may be relative to its end: then relative_size is 4 */
  MDL_BOUND = 8,            /* to its place in another way: a far call, an operand relative to the low 32 bits of its end */
};

struct mdl_instruction {
  uint64_t target;        /*  0 absolute: of the branch, or of the memory operand; 0 when relative_size is */
  uint8_t length;         /*  8 bytes, 1 to 15 */
  uint8_t kind;           /*  9 enum mdl_instruction_kind */
  uint8_t relative_at;    /* 10 offset in the instruction of the relative displacement */
  uint8_t relative_size;  /* 11 its size: 1 or 4; 0 when there is none */
  uint8_t opcode;         /* 12 the last opcode byte */
  uint8_t opcode_map;     /* 13 0: one byte, 1: 0F, 2: 0F38, 3: 0F3A, 0xFF: VEX, EVEX, XOP, 3DNow! */
  uint8_t falls_through;  /* 14 0 when nothing behind it runs: a jump, a return, ud2, hlt; an int3 may go on */
  uint8_t pad;            /* 15 */
};

/* Functions whose probes are on in slices of time, all alike (record/slices.h). Java writes the plan; the shim writes `next` and what
 * stands behind it, and Java sets these to 0 when it has taken them. */
struct mdl_slicing {
  uint64_t functions;    /*  0 uint32_t[count]: indices */
  uint64_t count;        /*  8 */
  uint64_t step;         /* 16 how many of them are on in a slice; the next ones in the next. Steps from the eighth on count as one */
  uint64_t timed;        /* 24 1: calls are timed, one of mdl_slice_plan.means by chance, and one tells its caller; 0: they are
                               counted only */
  uint64_t period_nanos; /* 32 there is one slice in each; 0: none */
  uint64_t settling_nanos; /* 40 how long its probes are on before it begins */
  uint64_t length_nanos; /* 48 of a slice */
  uint64_t next;         /* 56 the function that the next slice begins with */
  uint64_t agent_nanos;  /* 64 CPU time that the agent took to open and close slices */
  uint64_t slices[8];    /* 72 how many there have been, of each step of functions: MDL_SLICE_STEPS */
  uint64_t cpu_nanos[8]; /* 136 CPU time of the program in them */
};

#define MDL_SLICINGS 4
#define MDL_SLICE_STEPS 8

struct mdl_slice_plan {
  uint64_t apart;        /*  0 uint64_t[function_capacity]: calls that count slices do not count, modulo 2^64 */
  uint64_t means;        /*  8 uint32_t[function_capacity]: of how many calls one is timed in duration slices */
  uint64_t begun;        /* 16 uint64_t[function_capacity]: calls when the slice began that is open; the shim's own */
  double ticks_per_nano; /* 24 */
  struct mdl_slicing of[MDL_SLICINGS]; /* 32 */
};

/* Bytes of a request and of its answer. */
#define MDL_REQUEST_MAX 4096
#define MDL_ANSWER_MAX 65536

struct mdl_api {
  uint64_t size;          /*   0 sizeof(struct mdl_api) */
  uint64_t session;       /*   8 address of struct mdl_header */
  int64_t tls_offset;     /*  16 of the word that points to the thread's struct mdl_thread, from fs */
  uint64_t options;       /*  24 char *: MDL_OPTIONS as the process started with it, "" when absent */
  uint64_t log_path;      /*  32 char *: the session's log */
  uint64_t library;       /*  40 char *: directory that holds libmdlagent.so */

  /* Functions. Unless said otherwise a negative result is -errno. */
  uint64_t ready;         /*  48 void (void): probes are in place; a waiting main goes on */
  uint64_t tsc;           /*  56 uint64_t (void) */
  uint64_t renew_clocks;  /*  64 void (void): header.now_*, header.agent_cpu_nanos */
  uint64_t images;        /*  72 int64_t (struct mdl_image *out, int64_t capacity): how many there are */
  uint64_t code_copy;     /*  80 int64_t (struct mdl_text *text): copies it to `alias`, or, when that is 0, to a new place, which it
                                 becomes; makes its mark. -ETXTBSY when it must not be replaced, since the program may write to
                                 it, or has put other memory there */
  uint64_t code_map;      /*  88 int64_t (uint64_t at, uint64_t length): new R-X memory at exactly `at`
                                 (-EEXIST when taken) -> its writable alias */
  uint64_t store;         /*  96 void (uint64_t alias, uint64_t value, int64_t size): one store of 1, 2, 4 or 8 bytes */
  uint64_t sync_cores;    /* 104 int64_t (void): every core that runs this process has serialised */
  uint64_t toggle;        /* 112 int64_t (const uint32_t *sites, int64_t n, int64_t on): stores made */
  uint64_t arm;           /* 120 int64_t (const uint32_t *functions, const uint64_t *longest_ticks, int64_t n): sampled mode,
                                 opens a window for each, which ends by itself after longest_ticks at the latest; functions
                                 whose window is still being closed are left out. Returns the stores made */
  uint64_t allocate;      /* 128 uint64_t (uint64_t bytes): zeroed, 64-aligned memory of the session, 0 when there is none */
  uint64_t decode;        /* 136 int64_t (uint64_t code, int64_t length, uint8_t *lengths): lengths[i] = length of the instruction
                                 that starts at i, 0 inside one; decoding stops at the first bad one: bytes decoded */
  uint64_t demangle;      /* 144 int64_t (const char *symbol, char *out, int64_t capacity): length, or -EINVAL */

  /* For generated code; they follow the C calling convention. */
  uint64_t entry_slow;        /* 152 void (struct mdl_site *, uint64_t function, uint64_t key): exact mode */
  uint64_t exit_slow;         /* 160 void (struct mdl_site *, uint64_t function, uint64_t key): exact mode */
  uint64_t record_slow;       /* 168 void (struct mdl_function *, uint64_t ticks, uint64_t self, uint64_t inside): exact mode */
  uint64_t sample_entry_slow; /* 176 as entry_slow, sampled mode */
  uint64_t sample_exit_slow;  /* 184 void (struct mdl_site *, uint64_t function, uint64_t key, uint64_t call_site): sampled mode */
  uint64_t expire_entry;      /* 192 void (struct mdl_site *): the window is over */
  uint64_t expire_exit;       /* 200 void (struct mdl_site *): if it is over and no frame is open */

  uint64_t disarm;      /* 208 int64_t (const uint32_t *functions, int64_t n): sampled mode, ends the window of each: entries off,
                               exits when their last frame is gone. Returns the stores made */
  uint64_t program_cpu; /* 216 int64_t (void): nanoseconds of CPU time of all threads since they met their first probe */

  uint64_t replace;     /* 224 void (uint64_t alias, uint64_t mask, uint64_t value): of the 8 bytes at alias those bits that mask has
                               become value, by one locked store; the others keep what anybody stores meanwhile. alias: inside
                               one atomic unit; value: bits of the mask */
  uint64_t wait_until;  /* 232 uint64_t (uint64_t tsc): spins until then: the time it is */
  uint64_t catch_traps; /* 240 int64_t (void): threads that meet a trapping byte of header.traps are redirected from now on */
  uint64_t instruction; /* 248 int64_t (uint64_t code, int64_t length, struct mdl_instruction *out): the one at code,
                               which has `length` readable bytes: its length, -EILSEQ when there is none */
  uint64_t cpuid;       /* 256 int64_t (uint64_t leaf, uint64_t subleaf, uint32_t out[4]): eax, ebx, ecx, edx; -ENOENT when
                               the processor has no such leaf */

  /* For stubs of whole functions. The first four do not follow the C calling convention: calls.S. */
  uint64_t function_entry_slow; /* 264 */
  uint64_t function_exit_slow;  /* 272 */
  uint64_t count_slow;          /* 280 */
  uint64_t function_sibling_slow; /* 288 as the exit, where a sibling call ends a call */
  uint64_t trampolines;         /* 296 int64_t (uint64_t start, uint64_t length, uint64_t eh_frame_hdr): unwinders and debuggers
                                       find it for code there, for good; .eh_frame lies behind it */

  /* Where stubs go on whose sites have clients; they do not follow the C calling convention: calls.S. */
  uint64_t hook_entry_client;     /* 304 */
  uint64_t hook_exit_client;      /* 312 */
  uint64_t function_entry_client; /* 320 */
  uint64_t function_exit_client;  /* 328 */
  uint64_t count_client;          /* 336 */
  uint64_t attach;                /* 344 int64_t (const uint32_t *probes, int64_t n, uint64_t function): what fastinst.h's
                                         activate does, for functions of any origin; 0: deactivate. enum fastinst_status */
  uint64_t counter;               /* 352 the function to attach so that a probe only counts, in mdl_thread.counts */

  /* Images that come and go. */
  uint64_t text;          /* 360 alias of the first copy of text; the file of all copies is called mdl-text, and
                                 their offsets in it are those of their aliases from this one */
  uint64_t show;          /* 368 int64_t (struct mdl_text *texts, int64_t n): the copies take the place of the texts, while images are
                                 held. None does, -ESTALE, when any image has gone all the same. A text that is not what it
                                 was when it was copied, or is sealed, is left alone: its mark is 0 then */
  uint64_t counters;      /* 376 int64_t (void): changes with each image that comes or goes */
  uint64_t hold;          /* 384 int64_t (void): no image is closed until `release`: 1, or 0 when that cannot be had at this moment */
  uint64_t release;       /* 392 void (void) */
  uint64_t await_opening; /* 400 int64_t (uint64_t nanos): returns as soon as the application waits for the probes of a library,
                                 at the latest after so long: how many times it has */
  uint64_t followed;      /* 408 void (uint64_t opened): what was loaded at the last `hold` has probes; so do those that
                                 await_opening has told of */
  uint64_t forget_clients; /* 416 void (const uint32_t *probes, int64_t n): of libraries that have gone: none has a client, or is
                                 open to one until `bodies` is written again */

  /* Requests of the command line (control.c). */
  uint64_t take_request;   /* 424 int64_t (char out[MDL_REQUEST_MAX]): bytes of the one that waits, 0 for none */
  uint64_t answer_request; /* 432 void (const char *text, int64_t length): to the one that was taken */

  /* Snippets (org.mdlagent.arch.snippet). */
  uint64_t snippets;      /* 440 int64_t (uint32_t probe, uint64_t code): what runs there from now on, 0 for nothing. enum
                                 fastinst_status */
  uint64_t values;        /* 448 where bodies go on whose thread has no values yet; calls.S */
  uint64_t values_framed; /* 456 the same at the return of a whole function */

  /* What the kernel counts (events.c). */
  uint64_t event_open;  /* 464 int64_t (uint64_t event, int64_t tid, int64_t reach): counts a software event of perf_event_open(2)
                               from now on: a descriptor, for the two below; -EBADF when the agent has none of its own */
  uint64_t event_read;  /* 472 int64_t (int64_t descriptor): how often it has come */
  uint64_t event_close; /* 480 void (int64_t descriptor) */
  uint64_t threads;     /* 488 int64_t (int64_t pid, uint32_t *tids, int64_t capacity): threads of a process, but for the agent's:
                               how many there are */

  /* Functions that the program calls in its libraries (imports.c). */
  uint64_t find_symbol;     /* 496 uint64_t (const char *symbol, const char *version): where the dynamic linker finds it for the program,
                                   0: nowhere. version "": any */
  uint64_t exchange_import; /* 504 int64_t (const uint64_t change[3], int64_t is_read_only): change[0] is the address of a word
                                   that the program calls through, change[1] what it holds, change[2] what it is to hold.
                                   1, or 0 when it holds something else. is_read_only: it is on a page that is */

  /* Functions that snippets call (calls.S). */
  uint64_t snippet_call;        /* 512 where snippets go that call one */
  uint64_t snippet_call_framed; /* 520 the same at the return of a whole function */

  uint64_t replace_all; /* 528 void (const uint64_t (*stores)[3], int64_t n): one after the other, of each alias, mask and value as of
                               `replace`. Mask 0xFF: one byte is stored, wherever it lies. All bits: stored without a look at
                               what is there. When it returns all cores see the stores */

  /* Which file each descriptor stands for (files.h). */
  uint64_t files_note;     /* 536 the function that snippets call */
  uint64_t files_table;    /* 544 address of the word that leads to the table of descriptors */
  uint64_t files_begin;    /* 552 int64_t (void): 0 when there is no room */
  uint64_t files_intern;   /* 560 int64_t (const char *name, int64_t length) */
  uint64_t files_path;     /* 568 int64_t (const char *path) */
  uint64_t files_peer;     /* 576 int64_t (const void *address, int64_t length, int64_t accepted) */
  uint64_t files_name;     /* 584 uint64_t (int64_t number) */
  uint64_t files_capacity; /* 592 int64_t (void) */
  uint64_t files_taken;    /* 600 int64_t (void) */
  uint64_t files_adopt;    /* 608 int64_t (int64_t descriptor, int64_t was, int64_t number) */
  uint64_t files_enter;    /* 616 void (const char *directory) */
  uint64_t files_forget;   /* 624 void (void) */

  /* Where threads are whenever they have taken some CPU time, and by which calls (agent/pc_samples.h). */
  uint64_t pc_open;   /* 632 int64_t (int64_t tid, uint64_t period_nanos): begins to sample a thread in user mode, and those that it
                             or its offspring begins, in forked processes too: how many samples of a processor there is room for
                             until they are taken; -EBADF and -EPERM as event_open */
  uint64_t pc_switch; /* 640 int64_t (int64_t on): samples threads, 1, or does not, 0, from now on; -1: none of them any more, until
                             they are opened again. The kernel makes threads pay at each switch unless it is -1 */
  uint64_t pc_take;   /* 648 int64_t (struct mdl_pc_place *unknown, int64_t capacity, int64_t weight): counts samples, each so often,
                             until there is none, 0, or one whose path has addresses whose frames are not known: how many of these
                             there are in `unknown`. That sample is counted when they are */
  uint64_t pc_place;  /* 656 void (uint64_t address, int64_t frame, int64_t outer): the frame of an address; where that is inlined in
                             another's code, `outer` is the other's, else -1 */
  uint64_t pc_frame;  /* 664 int64_t (const struct mdl_pc_frame *frame): adds one: its number, 0 where there is no room */
  uint64_t pc_forget; /* 672 void (void): addresses' frames may be others */
  uint64_t pc_map;    /* 680 int64_t (int64_t pid, char *text, int64_t capacity): what a process says of code that it has made at run
                             time, in /tmp/perf-PID.map: bytes in the file, of which as many are in `text` as fit; or -errno */

  uint64_t plan_slices; /* 688 void (struct mdl_slice_plan *plan): slices are opened and closed by it from now on, whenever Java waits
                               in await_opening; 0: none are */
};

/* An address in code. */
struct mdl_pc_place {
  uint64_t address; /*  0 */
  uint64_t start;   /*  8 of the code that one unwind description is for, 0 where there is none */
  uint64_t bias;    /* 16 of its image */
  int64_t pid;      /* 24 process that was there */
};

enum mdl_event_reach {
  MDL_REACH_THREAD = 0,  /* the thread alone */
  MDL_REACH_PROCESS = 1, /* and threads that it begins from now on, and they */
  MDL_REACH_FAMILY = 2,  /* and processes, until they execute another program */
};

static_assert(sizeof(struct mdl_image) == 4120, "mdl_image");
static_assert(sizeof(struct mdl_text) == 32, "mdl_text");
static_assert(offsetof(struct mdl_api, ready) == 48, "mdl_api.ready");
static_assert(offsetof(struct mdl_api, entry_slow) == 152, "mdl_api.entry_slow");
static_assert(sizeof(struct mdl_instruction) == 16, "mdl_instruction");
static_assert(sizeof(struct mdl_pc_place) == 32, "mdl_pc_place");
static_assert(sizeof(struct mdl_slicing) == 200, "mdl_slicing");
static_assert(sizeof(struct mdl_api) == 696, "mdl_api");

#endif
