/*
 * The shim's interface to the Java agent: one table of addresses, passed to org.mdlagent.runtime.agent.Agent.start(long). The
 * Java side is org.mdlagent.arch.shim.NativeApi; the build generates its offsets (java/layout.awk). The shim provides
 * mechanism; Java decides what to patch, and when.
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
  char path[4096];  /* 24 real path, also of the executable, which the linker names "" */
};

/* Text that a copy may replace. */
struct mdl_text {
  uint64_t start;  /*  0 */
  uint64_t length; /*  8 */
  uint64_t alias;  /* 16 writable address of the copy */
  uint64_t mark;   /* 24 checksum of the text when it was copied; 0 if the program has changed it since, or may write to it */
};

/* The properties of an instruction that relocating it depends on. */
enum mdl_instruction_kind {
  MDL_PLAIN = 0,            /* position-independent */
  MDL_RIP_RELATIVE = 1,     /* one memory operand is relative to its end */
  MDL_CALL = 2,             /* direct */
  MDL_JUMP = 3,             /* direct */
  MDL_CONDITIONAL_JUMP = 4, /* by flags */
  MDL_COUNTED_JUMP = 5,     /* jrcxz, jecxz, loop, loope, loopne: 8-bit displacement only */
  MDL_TRANSACTION = 6,      /* xbegin: a relative fall-back address */
  MDL_INDIRECT_CALL = 7,    /* relative_size is 4 if its operand is relative to its end */
  MDL_BOUND = 8,            /* position-dependent otherwise: a far call, an operand relative to the low 32 bits of its end */
};

struct mdl_instruction {
  uint64_t target;        /*  0 absolute target of the branch or memory operand; 0 if relative_size is 0 */
  uint8_t length;         /*  8 bytes, 1 to 15 */
  uint8_t kind;           /*  9 enum mdl_instruction_kind */
  uint8_t relative_at;    /* 10 offset of the relative displacement in the instruction */
  uint8_t relative_size;  /* 11 its size: 1 or 4; 0 if there is none */
  uint8_t opcode;         /* 12 the last opcode byte */
  uint8_t opcode_map;     /* 13 0: one byte, 1: 0F, 2: 0F38, 3: 0F3A, 0xFF: VEX, EVEX, XOP, 3DNow! */
  uint8_t falls_through;  /* 0 if control never reaches the next instruction: a jump, a return, ud2, hlt; not an int3 */
  uint8_t pad;            /* 15 */
};

#define MDL_SLICE_STEPS 8

/* Functions that are sliced alike (record/slices.h). Java writes the plan; the shim writes `next` and the fields after it, which
 * Java reads and resets to 0. */
struct mdl_slicing {
  uint64_t functions;    /*  0 uint32_t[count]: indices */
  uint64_t count;        /*  8 */
  uint64_t step;         /* 16 functions that are on in one slice; the next slice has the next step. Steps from the eighth on are counted as one */
  uint64_t timed;        /* 24 1: duration slices: calls are timed with probability 1 / mdl_slice_plan.means, and one records its
                               caller; 0: count slices */
  uint64_t period_nanos; /* 32 one slice per period; 0: no slices */
  uint64_t settling_nanos; /* 40 time that the probes are on before the slice counts, for warm caches */
  uint64_t length_nanos; /* 48 of a slice */
  uint64_t next;         /* 56 first function of the next slice */
  uint64_t agent_nanos;  /* 64 CPU time that the agent took to open and close slices, without */
  uint64_t waking_nanos; /* 72 that for waking up in each: when it has settled, if it settles, and at its end */
  uint64_t slices[8];    /* 80 number of slices, by step */
  uint64_t cpu_nanos[8]; /* 144 CPU time of the program in these slices */
};

/* Variation of a function's rate between successive count slices (record/rate_spread.h). The shim writes it. Java resets `squares`
 * and `pairs` when it has read them, and `rate_nanos` when it starts to slice the function. */
struct mdl_rate_spread {
  uint64_t calls;    /*  0 calls and CPU time in slices since the last rate */
  uint64_t nanos;    /*  8 */
  double rate;       /* 16 the last rate, in calls per nanosecond of CPU time */
  double rate_nanos; /* 24 CPU time over which the rate was measured; 0: no rate */
  double squares;    /* 32 sum over pairs of successive rates r, s in times t, u: (r - s)^2 / (1/t + 1/u), in calls^2 per nanosecond */
  uint64_t pairs;    /* 40 their number */
  double peak;       /* 48 the highest rate so far */
};

#define MDL_SLICINGS 5

struct mdl_slice_plan {
  uint64_t apart;        /*  0 uint64_t[function_capacity]: calls outside of count slices, modulo 2^64 */
  uint64_t means;        /*  8 uint32_t[function_capacity]: least means of duration slices */
  uint64_t begun;        /* 16 uint64_t[function_capacity]: calls at the start of the open slice; private to the shim */
  double ticks_per_nano; /* 24 */
  uint64_t spreads;      /* 32 struct mdl_rate_spread[function_capacity] */
  struct mdl_slicing of[MDL_SLICINGS]; /* 40 */
};

/* Size limit of a request and of its answer, in bytes. */
#define MDL_REQUEST_MAX 4096
#define MDL_ANSWER_MAX 65536

struct mdl_api {
  uint64_t size;          /*   0 sizeof(struct mdl_api) */
  uint64_t session;       /*   8 address of struct mdl_header */
  int64_t tls_offset;     /*  16 offset from fs of the word that points to the thread's struct mdl_thread */
  uint64_t options;       /*  24 char *: MDL_OPTIONS at process start, "" if unset */
  uint64_t log_path;      /*  32 char *: the session's log */
  uint64_t library;       /*  40 char *: directory that holds libmdlagent.so */

  /* Functions. A negative result is -errno, unless stated otherwise. */
  uint64_t ready;         /*  48 void (void): probes are in place; releases a waiting main */
  uint64_t tsc;           /*  56 uint64_t (void) */
  uint64_t renew_clocks;  /*  64 void (void): header.now_*, header.agent_cpu_nanos */
  uint64_t images;        /*  72 int64_t (struct mdl_image *out, int64_t capacity): how many there are */
  uint64_t code_copy;     /*  80 int64_t (struct mdl_text *text): copies it to `alias`, or, if `alias` is 0, to a new place and
                                 sets `alias`; sets `mark`. -ETXTBSY if it must not be replaced: the program may write to it, or
                                 has mapped other memory there */
  uint64_t code_map;      /*  88 int64_t (uint64_t at, uint64_t length): new R-X memory at exactly `at` (-EEXIST if taken);
                                 returns its writable alias */
  uint64_t store;         /*  96 void (uint64_t alias, uint64_t value, int64_t size): one store of 1, 2, 4 or 8 bytes */
  uint64_t sync_cores;    /* 104 int64_t (void): serialises every core that runs this process */
  uint64_t toggle;        /* 112 int64_t (const uint32_t *sites, int64_t n, int64_t on): returns the number of stores */
  uint64_t arm;           /* 120 int64_t (const uint32_t *functions, const uint64_t *longest_ticks, int64_t n): sampled mode,
                                 switches each function's probes on, for longest_ticks at most (record/lease.h). Skips functions
                                 whose lease is still ending. Returns the number of stores */
  uint64_t allocate;      /* 128 uint64_t (uint64_t bytes): zeroed, 64-byte aligned memory of the session; 0 if out of memory */
  uint64_t decode;        /* 136 int64_t (uint64_t code, int64_t length, uint8_t *lengths): lengths[i] = length of the
                                 instruction that starts at i, 0 inside one. Stops at the first bad instruction. Returns the
                                 bytes decoded */
  uint64_t demangle;      /* 144 int64_t (const char *symbol, char *out, int64_t capacity): length, or -EINVAL */

  /* For generated code; they follow the C calling convention. */
  uint64_t entry_slow;        /* 152 void (struct mdl_site *, uint64_t function, uint64_t key): exact mode */
  uint64_t exit_slow;         /* 160 void (struct mdl_site *, uint64_t function, uint64_t key, uint64_t call_site): exact mode */
  uint64_t record_slow;       /* 168 void (struct mdl_function *, uint64_t ticks, uint64_t self, uint64_t inside, uint64_t call_site, uint64_t below) */
  uint64_t sample_entry_slow; /* 176 as entry_slow, sampled mode */
  uint64_t sample_exit_slow;  /* 184 void (struct mdl_site *, uint64_t function, uint64_t key, uint64_t call_site): sampled mode */
  uint64_t expire_entry;      /* 192 void (struct mdl_site *): a call finds the deadline passed */
  uint64_t expire_exit;       /* 200 void (struct mdl_site *): if it is over and no frame is open */

  uint64_t disarm;      /* 208 int64_t (const uint32_t *functions, int64_t n): sampled mode, ends the lease of each: entries
                               off now, exits after their last frame. Returns the number of stores */
  uint64_t program_cpu; /* 216 int64_t (void): CPU nanoseconds of all threads, each since its first probe */

  uint64_t replace;     /* 224 void (uint64_t alias, uint64_t mask, uint64_t value): sets the bits of `mask` in the 8 bytes at
                               `alias` to `value` by one locked store; concurrent stores to the other bits survive. `alias` must
                               lie within one atomic unit, and `value` within `mask` */
  uint64_t wait_until;  /* 232 uint64_t (uint64_t tsc): spins until then; returns the current TSC */
  uint64_t catch_traps; /* 240 int64_t (void): from now on redirects threads that execute a trapping byte of header.traps */
  uint64_t instruction; /* 248 int64_t (uint64_t code, int64_t length, struct mdl_instruction *out): decodes the instruction at
                               `code`, of which `length` bytes are readable. Returns its length, or -EILSEQ */
  uint64_t cpuid;       /* 256 int64_t (uint64_t leaf, uint64_t subleaf, uint32_t out[4]): eax, ebx, ecx, edx; -ENOENT if the
                               processor lacks the leaf */

  /* For stubs of whole functions. The first four do not follow the C calling convention: calls.S. */
  uint64_t function_entry_slow; /* 264 */
  uint64_t function_exit_slow;  /* 272 */
  uint64_t count_slow;          /* 280 */
  uint64_t function_sibling_slow; /* 288 as function_exit_slow, for a call that ends with a sibling call */
  uint64_t trampolines;         /* 296 int64_t (uint64_t start, uint64_t length, uint64_t eh_frame_hdr): registers it with
                                       unwinders and debuggers for code there, permanently; .eh_frame follows it */

  /* Continuations of stubs whose sites have clients. They do not follow the C calling convention: calls.S. */
  uint64_t hook_entry_client;     /* 304 */
  uint64_t hook_exit_client;      /* 312 */
  uint64_t function_entry_client; /* 320 */
  uint64_t function_exit_client;  /* 328 */
  uint64_t count_client;          /* 336 */
  uint64_t attach;                /* 344 int64_t (const uint32_t *probes, int64_t n, uint64_t function): fastinst_activate() for
                                         any function; 0: deactivates. Returns enum fastinst_status */
  uint64_t counter;               /* 352 attach this function to make a probe only count, in mdl_thread.counts */

  /* Loading and unloading of images. */
  uint64_t text;          /* 360 alias of the first copy of text. All copies are in the file mdl-text, at the offset of their
                                 alias from this one */
  uint64_t show;          /* 368 int64_t (struct mdl_text *texts, int64_t n): replaces the texts by their copies; images must be
                                 held. -ESTALE, and nothing is replaced, if an image was unloaded all the same. Skips a text
                                 that has changed since it was copied, or is sealed, and sets its mark to 0 */
  uint64_t counters;      /* 376 int64_t (void): changes with each image that is loaded or unloaded */
  uint64_t hold;          /* 384 int64_t (void): prevents unloading until `release`: 1, or 0 if that is not possible now */
  uint64_t release;       /* 392 void (void) */
  uint64_t await_opening; /* 400 int64_t (uint64_t nanos): waits until the application waits for the probes of a library, or for
                                 `nanos`. Returns how often it has waited so far */
  uint64_t followed;      /* 408 void (uint64_t opened): the images loaded at the last `hold` have probes, and so do the first
                                 `opened` libraries of await_opening */
  uint64_t forget_clients; /* 416 void (const uint32_t *probes, int64_t n): of unloaded libraries: removes their clients and
                                  refuses new ones until `bodies` is written again */

  /* Requests of the command line (control.c). */
  uint64_t take_request;   /* 424 int64_t (char out[MDL_REQUEST_MAX]): bytes of the pending request, 0 if there is none */
  uint64_t answer_request; /* 432 void (const char *text, int64_t length): answers the request that was taken */

  /* Snippets (org.mdlagent.arch.snippet). */
  uint64_t snippets;      /* 440 int64_t (uint32_t probe, uint64_t code): sets the code that runs there, 0: none. Returns enum
                                 fastinst_status */
  uint64_t values;        /* 448 continuation of bodies whose thread has no values yet; calls.S */
  uint64_t values_framed; /* 456 the same at the return of a whole function */

  /* Kernel software events (events.c). */
  uint64_t event_open;  /* 464 int64_t (uint64_t event, int64_t tid, int64_t reach): starts to count an event of
                               perf_event_open(2): its type in the upper half, its number below. Returns a descriptor; -EBADF if the agent shares descriptors with the program */
  uint64_t event_read;  /* 472 int64_t (int64_t descriptor): the count */
  uint64_t event_close; /* 480 void (int64_t descriptor) */
  uint64_t threads;     /* 488 int64_t (int64_t pid, uint32_t *tids, int64_t capacity): lists the threads of a process, without
                               the agent's. Returns how many there are; more than `capacity` if there is no room for all, the
                               agent's included */

  /* Functions that the program calls in its libraries (imports.c). */
  uint64_t find_symbol;     /* 496 uint64_t (const char *symbol, const char *version): the address that the dynamic linker
                                   resolves it to for the program, or 0. version "": any */
  uint64_t exchange_import; /* 504 int64_t (const uint64_t change[3], int64_t is_read_only): change: address of a word that the
                                   program calls through, expected value, new value. 1, or 0 if the word holds another value.
                                   is_read_only: the page is read-only */

  /* Functions that snippets call (calls.S). */
  uint64_t snippet_call;        /* 512 continuation of snippets that call a function */
  uint64_t snippet_call_framed; /* 520 the same at the return of a whole function */

  uint64_t replace_all; /* 528 void (const uint64_t (*stores)[3], int64_t n): `replace` for each {alias, mask, value}, in order.
                               Mask 0xFF: stores one byte, at any alignment. Mask of all bits: stores unconditionally. All cores
                               see the stores when it returns */

  /* The file behind each descriptor (files.h). */
  uint64_t files_note;     /* 536 the function that snippets call */
  uint64_t files_table;    /* 544 address of the word that points to the table of descriptors */
  uint64_t files_begin;    /* 552 int64_t (void): 0 if there is no room */
  uint64_t files_intern;   /* 560 int64_t (const char *name, int64_t length) */
  uint64_t files_path;     /* 568 int64_t (const char *path) */
  uint64_t files_peer;     /* 576 int64_t (const void *address, int64_t length, int64_t accepted) */
  uint64_t files_name;     /* 584 uint64_t (int64_t number) */
  uint64_t files_capacity; /* 592 int64_t (void) */
  uint64_t files_taken;    /* 600 int64_t (void) */
  uint64_t files_adopt;    /* 608 int64_t (int64_t descriptor, int64_t was, int64_t number) */
  uint64_t files_enter;    /* 616 void (const char *directory) */
  uint64_t files_forget;   /* 624 void (void) */

  /* Samples of program counters and call paths by CPU time (agent/pc_samples.h). */
  uint64_t pc_open;   /* 632 int64_t (int64_t tid, uint64_t period): starts to sample a thread in user mode, and all
                             threads that it or its descendants create, in forked processes too. Returns how many samples of a
                             processor the buffer holds; -EBADF and -EPERM as event_open */
  uint64_t pc_switch; /* 640 int64_t (int64_t on): 1: resumes sampling, 0: pauses it, -1: ends it until pc_open. The kernel
                             charges threads at each context switch unless it is -1 */
  uint64_t pc_take;   /* 648 int64_t (struct mdl_pc_place *unknown, int64_t capacity, int64_t weight): counts pending samples,
                             each `weight` times. Returns 0 when none is left. Stops at a sample whose path has addresses
                             without known frames: stores them in `unknown` and returns how many; that sample is counted once
                             they are known */
  uint64_t pc_place;  /* 656 void (uint64_t address, int64_t frame, int64_t outer): sets the frame of an address; `outer`: frame
                             of the function that it is inlined into, else -1 */
  uint64_t pc_frame;  /* 664 int64_t (const struct mdl_pc_frame *frame): adds a frame. Returns its number, 0 if there is no room */
  uint64_t pc_forget; /* 672 void (void): invalidates the frames of all addresses */
  uint64_t pc_map;    /* 680 int64_t (int64_t pid, char *text, int64_t capacity): reads /tmp/perf-PID.map, in which a process
                             names its JIT-compiled code. Returns the bytes in the file; `text` gets as many as fit */

  uint64_t plan_slices; /* 688 void (struct mdl_slice_plan *plan): slices are opened and closed by it from now on, whenever Java waits
                               in await_opening; 0: none are */

  uint64_t hide; /* 696 int64_t (struct mdl_text *texts, int64_t n): maps the files' text over the copies; images must be held.
                        `show` shows the copies again. Skips what the program has mapped there itself, and sets its alias to
                        0. On failure all copies stay: -ENOENT if a text's file is not what it was; its mark is 0 then */
  uint64_t instruction_uses; /* 704 int64_t (uint64_t code, int64_t length): what the instruction does with general registers and
                                    status flags: registers read in bits 0 to 15, those that it overwrites in 16 to 31, flags read
                                    in 32 to 37 (CF, PF, AF, ZF, SF, OF), flags overwritten in 40 to 45. Or -EILSEQ */
  uint64_t blocks_open;      /* 712 int64_t (uint64_t bytes): reserves the memory that counters of blocks are addressed in
                                    (record/block_counts.h). Its address, below 2 GiB; -ENOMEM */
  uint64_t leave;            /* 720 int64_t (void): the agent's threads are removed, this one included, once the request being
                                    served is answered; the session ends then. Probes must be off, texts hidden. 0 or -errno */
  uint64_t pc_wait;          /* 728 int64_t (int64_t tid, int64_t pid, struct mdl_pc_place *unknown): adds a thread's time off the
                                    processors since the last call to the call path that it waits on now (agent/waits.h). `unknown`
                                    has room for MDL_PC_PLACES. Returns how many addresses of that path have no known frame; then
                                    nothing is added until they are known */
  uint64_t function_entry_cpu; /* 736 of a whole function whose call has begun: reads the thread's CPU clock (slow_calls.h), and the
                                      call's start again. Registers as function_entry_slow */
  uint64_t read_cpu;         /* 744 void (void): the same at a hook, without the call's start */

  /* Facts about program files, kept from start to start (session/image_cache.h). */
  uint64_t kept_read;  /* 752 int64_t (const char *name, void *bytes, int64_t capacity): the size of the file, which is read if
                              it fits, or -errno */
  uint64_t kept_write; /* 760 int64_t (const char *name, const void *bytes, int64_t length): 0 or -errno */

  uint64_t pc_choose; /* 768 void (uint64_t event): before the first pc_open: what is sampled instead of CPU time, enum perf_sw_ids.
                             With a period of 1 each event is, in kernel mode, too */
};

/* An address in code. */
#define MDL_PC_PLACES 32
struct mdl_pc_place {
  uint64_t address; /*  0 */
  uint64_t start;   /*  8 start of the code that its unwind description (FDE) covers, 0 if there is none */
  uint64_t bias;    /* 16 load bias of its image */
  int64_t pid;      /* 24 process that executed it */
};

/* What a function of libc has done to a descriptor, or is about to do. Each comment lists the arguments of files_note. */
enum mdl_file_event {
  MDL_FILE_OPENED = 0,             /* path */
  MDL_FILE_OPENED_AT = 1,          /* descriptor of a directory, path */
  MDL_FILE_STREAM_OPENED = 2,      /* path; the result is a FILE * */
  MDL_FILE_DIRECTORY_OPENED = 3,   /* path; the result is a DIR * */
  MDL_FILE_MADE = 4,               /* a descriptor without a name */
  MDL_FILE_PAIR_MADE = 5,          /* address of the two descriptors */
  MDL_FILE_DUPLICATED = 6,         /* the descriptor */
  MDL_FILE_CONTROLLED = 7,         /* fcntl: descriptor, command */
  MDL_FILE_CONNECTED = 8,          /* descriptor, address, its length */
  MDL_FILE_ACCEPTED = 9,           /* listening descriptor, address or NULL, pointer to its length */
  MDL_FILE_DIRECTORY_ENTERED = 10, /* path */
  MDL_FILE_DIRECTORY_LEFT = 11,    /* the new directory is unknown */
  MDL_FILE_CLOSES = 12,            /* descriptor */
  MDL_FILE_STREAM_CLOSES = 13,     /* FILE * */
  MDL_FILE_DIRECTORY_CLOSES = 14,  /* DIR * */
  MDL_FILE_RANGE_CLOSES = 15,      /* the first, the last */
};

enum mdl_event_reach {
  MDL_REACH_THREAD = 0,  /* the thread alone */
  MDL_REACH_PROCESS = 1, /* the thread, and threads that it or its descendants create from now on */
  MDL_REACH_FAMILY = 2,  /* also forked processes, until they execute another program */
};

static_assert(sizeof(struct mdl_image) == 4120, "mdl_image");
static_assert(sizeof(struct mdl_text) == 32, "mdl_text");
static_assert(offsetof(struct mdl_api, ready) == 48, "mdl_api.ready");
static_assert(offsetof(struct mdl_api, entry_slow) == 152, "mdl_api.entry_slow");
static_assert(sizeof(struct mdl_instruction) == 16, "mdl_instruction");
static_assert(sizeof(struct mdl_pc_place) == 32, "mdl_pc_place");
static_assert(sizeof(struct mdl_slicing) == 208, "mdl_slicing");
static_assert(sizeof(struct mdl_rate_spread) == 56, "mdl_rate_spread");
static_assert(sizeof(struct mdl_api) == 776, "mdl_api");

#endif
