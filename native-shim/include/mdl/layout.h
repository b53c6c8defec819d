/*
 * The session file: every structure that C, generated machine code, the Java agent and out-of-process
 * readers share. The build generates Java's side, org.mdlagent.arch.layout, from it (java/layout.awk states the rules).
 *
 * The file is one mapping. It starts with the header; all else is allocated behind it by advancing
 * header.arena_next, never freed. A pointer in the file is an address in the process that owns it
 * (machine code follows it without arithmetic); a reader subtracts header.base and checks the bounds.
 * Bytes below header.arena_end are backed by memory (fallocate), so that no store to them can fault.
 */
#ifndef MDL_LAYOUT_H
#define MDL_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define MDL_MAGIC 0x31535345534c444dULL /* "MDLSESS1", little-endian */
#define MDL_VERSION 22u /* raised with each change of what a session holds */

enum mdl_header_state { MDL_STARTING = 0, MDL_ARMED = 1, MDL_ENDED = 2, MDL_AGENT_DEAD = 3 };
/* MDL_EXACT: every call is recorded, else a sample. MDL_MIXED: a function may have a mean, so threads have rows and countdowns.
 * MDL_UNPROFILED: the recorder needs no site; the probes serve clients.
 * MDL_CPU_TIME: durations are CPU time of the calling thread, in nanoseconds where fields say ticks.
 * MDL_FROM_MAIN: main has waited until probes were in place.
 * MDL_KNOWN_THREADS: threads have their blocks from when they begin, main from when the probes are in place.
 * MDL_UNPRELOADED: a process has executed a program with an environment that does not name the library.
 * MDL_ATTACHED: the agent has come into a process that ran without it.
 * MDL_UNTRAPPED: a thread of the program may block SIGTRAP or SIGILL, so no byte of its text may trap.
 * MDL_COUNTS: calls are counted, and none is timed.
 * MDL_COVERAGE, with MDL_COUNTS: only the first call of a function is counted; it ends the lease.
 * MDL_BLOCKS, with MDL_COUNTS: basic blocks are counted, too.
 * MDL_ARCS, with MDL_BLOCKS: each target of a computed jump is counted.
 * MDL_SLOW: slow calls are kept (mdl_slow_calls).
 * MDL_KERNEL_EVENTS: kernel events are counted by call path (mdl_pc_samples), and no function has a probe. */
enum mdl_header_flag {
  MDL_EXACT = 1,
  MDL_UNPROFILED = 2,
  MDL_MIXED = 4,
  MDL_CPU_TIME = 8,
  MDL_FROM_MAIN = 16,
  MDL_KNOWN_THREADS = 32,
  MDL_UNPRELOADED = 64,
  MDL_ATTACHED = 128,
  MDL_UNTRAPPED = 256,
  MDL_COUNTS = 512,
  MDL_COVERAGE = 1024,
  MDL_BLOCKS = 2048,
  MDL_ARCS = 4096,
  MDL_SLOW = 8192,
  MDL_KERNEL_EVENTS = 16384
};

/* How a patcher waits until all threads fetch a store to text. MDL_SYNC_NONE: neither way is available. */
enum mdl_header_sync { MDL_SYNC_NONE = 0, MDL_SYNC_TMAX = 1, MDL_SYNC_MEMBARRIER = 2 };

struct mdl_header {
  uint64_t magic;             /*   0 */
  uint32_t version;           /*   8 */
  uint32_t header_size;       /*  12 */
  uint64_t base;              /*  16 address of this header in the owning process */
  uint64_t limit;             /*  24 bytes mapped: the most the file can grow to */
  uint64_t arena_next;        /*  32 offset of the next free byte; advanced atomically */
  uint64_t arena_end;         /*  40 offset after the last byte backed by memory */
  uint32_t pid;               /*  48 */
  uint32_t state;             /*  52 enum mdl_header_state */
  uint64_t start_tsc;         /*  56 one instant on three clocks: the agent's constructor */
  uint64_t start_mono_nanos;  /*  64 CLOCK_MONOTONIC */
  uint64_t start_real_nanos;  /*  72 CLOCK_REALTIME */
  uint64_t now_tsc;           /*  80 a later instant, renewed each 60 ms unless the program is idle, and at the end: */
  uint64_t now_mono_nanos;    /*  88 the two give the frequency of the TSC */
  int32_t exit_status;        /*  96 -1 while unknown */
  int32_t exit_signal;        /* 100 0 for none */
  uint64_t end_real_nanos;    /* 104 0 while running or unknown */
  uint64_t functions;         /* 112 struct mdl_function[function_capacity] */
  uint32_t function_count;    /* 120 published with release after the records */
  uint32_t function_capacity; /* 124 */
  uint64_t sites;             /* 128 struct mdl_site[site_capacity] */
  uint32_t site_count;        /* 136 */
  uint32_t site_capacity;     /* 140 */
  uint64_t threads;           /* 144 newest struct mdl_thread; a list through .next */
  uint32_t thread_count;      /* 152 */
  uint32_t flags;             /* 156 enum mdl_header_flag */
  uint64_t toggles;           /* 160 stores to probe sites */
  uint64_t samples;           /* 168 calls that have told their callers: records drained from rings */
  uint64_t threads_refused;   /* 176 threads that got no block: their calls are not seen */
  uint64_t arena_refused;     /* 184 allocations that did not fit in the limit */
  uint64_t armed_tsc;         /* 192 0 until the first probes are in place */
  uint32_t sync;              /* 200 enum mdl_header_sync */
  uint32_t learned;           /* 204 sites whose function was learned or found to vary; only grows */
  uint32_t wrapper;           /* 208 outermost wrapper process that waits for this one (os/wrapper.h); 0: none */
  uint32_t apart_files;       /* 212 created so far by processes that gave up rights (session/apart.h) */
  uint64_t agent_cpu_nanos;   /* 216 CPU time of the agent's threads so far */
  uint64_t lookup;            /* 224 struct mdl_function *[lookup_mask + 1]: open addressing by address, linear probing, */
  uint64_t lookup_mask;       /* 232 0 ends a chain; slot = ((address >> 4) * 0x9E3779B97F4A7C15) >> 32 & lookup_mask */
  uint64_t unknown_function;  /* 240 the struct mdl_function, with address 0, of sites whose function is not known or varies */
  uint64_t traps;             /* 248 struct mdl_trap_index, 0 while no instruction has ever been trapped */
  uint64_t processes;         /* 256 newest struct mdl_process; a list through .next */
  uint64_t agent_process;     /* 264 struct mdl_process with the agent */
  uint32_t process_count;     /* 272 records in the list */
  uint32_t children;          /* 276 forked processes that are not known to have ended */
  uint64_t processes_forgotten; /* 280 ended processes whose records were reused */
  uint64_t calls_forgotten;   /* 288 of these */
  uint64_t processes_refused; /* 296 processes without a record: their calls are counted in sums only */
  uint64_t forks;             /* 304 begun by any process */
  uint64_t value_kinds;       /* 312 uint8_t[MDL_VALUES] of enum mdl_value_kind, 0 while no snippet has ever run */
  uint64_t metrics;           /* 320 newest struct mdl_metric; a list through .next */
  uint64_t snippet_bytes;     /* 328 bytes of code memory that snippets take up, those that wait to be freed included */
  uint64_t program_cpu_nanos; /* 336 CPU time of the program's threads as the sampled profiler knows it, 0 without it */
  double budget;              /* 344 fraction of the program's CPU time that the profiler may cost; 0 without a profiler */
  uint64_t slices;            /* 352 struct mdl_slices, 0 before the first has ended */
  uint64_t images_refused;    /* 360 programs and libraries that were left without probes */
  uint64_t functions_refused; /* 368 functions of these, and others without such probes */
  uint64_t start_ticks;       /* 376 field 22 of /proc/PID/stat, 0 when unknown: with pid and boot it names the process, */
  char boot[40];              /* 384 boot id, NUL-terminated                      whatever the clocks are set to */
  uint64_t processes_unprobed; /* 424 processes forked before the probes were in place that never got them */
  uint64_t expired;           /* 432 functions stopped by threads: at an overdue deadline, or without credit. Only grows */
  uint64_t tick_price;        /* 440 mixed mode: thread time that one tick of measuring costs, in 256ths of a tick:
                                     100 ticks at a budget of 1 %. 0: no limit */
  uint32_t clock_ticks;       /* 448 cost of reading the clock, subtracted from each duration: in ticks, and */
  uint32_t clock_cpu_nanos;   /* 452 where durations are CPU time, in nanoseconds */
  uint64_t calls_tsc;         /* 456 when the profiler wrote down its estimates of calls, 0 before */
  double waited;              /* 464 time that the program's threads have waited for processors, divided by their CPU time;
                                     0 while unknown */
  uint64_t pc_samples;        /* 472 struct mdl_pc_samples, 0 where the kernel gives none */
  uint64_t thread_places;     /* 480 where the first struct mdl_thread are, side by side; 0 before there are any */
  uint32_t thread_places_taken; /* 488 only grows */
  uint32_t processes_apart;   /* 492 not counted since they or their parents gave up rights (session/apart.h) */
  uint64_t blocks;            /* 496 struct mdl_blocks, 0 where basic blocks are not counted */
  uint64_t tmax;              /* 504 of MDL_SYNC_TMAX, in ticks */
  char program[1024];         /* 512 path of the executable, NUL-terminated UTF-8 */
  char id[512];               /* 1536 NAME-PID-TIME */
  char directory[1024];       /* 2048 the session's directory */
  uint64_t new_callers;       /* 3072 newest struct mdl_caller; a list through .next_new, from which the agent learns of them */
  uint64_t mount_namespace;   /* 3080 inode of /proc/self/ns/mnt, 0 when unknown; together with the root directory it tells */
  uint64_t root_device;       /* 3088               whether a reader that does not find the session's directory */
  uint64_t root_inode;        /* 3096               could have found it */
  uint64_t slow;              /* 3104 struct mdl_slow_calls, 0 without MDL_SLOW */
  uint8_t reserved2[984];     /* 3112 */
};

/* Data shared by the machine code at a function's sites. Application threads write the first cache line, the agent alone
 * the second. */
enum mdl_function_state { MDL_IDLE = 0, MDL_REARMING = 1, MDL_SAMPLING = 2, MDL_EXPIRED = 3 };

/* MDL_COUNTED: the probes see calls but no returns, so durations are unknown.
 * MDL_OFF: the recorder leaves the function out by request (control.c).
 * MDL_EVERY_CALL: every call that has returned is in a thread's row: the mean was 1 from before the first call.
 * MDL_IMPORTED: an imported function without probes of its own. The recorder leaves it out.
 * MDL_NAMED: an option fixes the function's tier. Its calls are recorded at any cost. */
enum mdl_function_flag { MDL_COUNTED = 1, MDL_OFF = 2, MDL_EVERY_CALL = 4, MDL_IMPORTED = 8, MDL_NAMED = 16 };

#define MDL_WHOLE_INTERRUPTED 2u /* in mdl_function.whole */

struct mdl_function {
  uint64_t address;     /*   0 what the compiler passes to __cyg_profile_func_*; never 0 in a valid record */
  uint64_t deadline;    /*   8 tsc: a call after the deadline switches the probes off */
  uint32_t code_size;   /*  16 bytes of its code, without split-off parts; 0 if unknown */
  uint32_t mean;        /*  20 calls are timed with probability 1 / mean (tier.h); 0: none. Timed calls are in the threads' rows.
                               All calls are counted */
  int32_t remaining;    /*  24 further timed calls that record their callers in the ring */
  int32_t open;         /*  28 sampled frames not yet closed */
  int32_t closers;      /*  32 threads inside mdl_expire_* for this function */
  uint32_t state;       /*  36 enum mdl_function_state */
  uint32_t index;       /*  40 of this record in header.functions */
  uint32_t flags;       /*  44 enum mdl_function_flag */
  uint32_t weight;      /*  48 mean above 1: number of calls that a timed call represents */
  uint32_t build;       /*  52 build id of that ELF file, in hexadecimal, 0 when it has none */
  uint32_t counting;    /*  56 1 while its stubs lead to their counters; of the agent alone */
  uint32_t slow;        /*  60 MDL_SLOW: a call of so many ticks or more goes into its thread's slow_ring; ~0: none. Probes read the
                               first cache line only */
  uint64_t callers;     /*  64 newest struct mdl_edge; a list through .next: sampled mode; written by the agent alone */
  uint32_t name;        /*  72 offset in the file of a struct mdl_string: demangled name */
  uint32_t symbol;      /*  76 as in the symbol table */
  uint32_t file;        /*  80 source file, 0 when unknown */
  uint32_t line;        /*  84 0 when unknown */
  uint32_t image;       /*  88 path of the ELF file */
  uint32_t exit_sites;  /*  92 number of exit sites in site_list */
  double calls;         /*  96 estimate, without `unseen`: counted while the entries are on, else scaled from slices */
  float calls_variance; /* 104 of that estimate */
  float unseen;         /* 108 CPU time since the session began in which its calls were not seen, divided by that in which they
                               were */
  uint64_t site_list;   /* 112 uint32_t site indices: exits first, then entries */
  uint32_t entry_sites; /* 120 */
  uint32_t whole;       /* 124 sampled mode: 1 if the entries have been on since the session began;
                                exact mode: MDL_WHOLE_INTERRUPTED once they have been off */
};

/* MDL_WHOLE: the first instruction of a function; the trampoline calls the body, so it sees the return, too.
 * MDL_RETURN: that return: the next site in the table. It has no code of its own; its words are those of the entry.
 * MDL_COUNT: an entry in the prologue that only counts; no probe sees the return. */
enum mdl_site_kind { MDL_ENTRY = 0, MDL_EXIT = 1, MDL_SIBLING_EXIT = 2, MDL_WHOLE = 3, MDL_RETURN = 4, MDL_COUNT = 5 };
enum mdl_site_flag { MDL_VARIES = 1, MDL_SNIPPETS = 2, MDL_STEPS = 4 };

/* A patch site that one store toggles: `size` bytes at `store` are `on` while the recorder, a client or snippets request the
 * site (code.c), else `off`. */
struct mdl_site {
  uint64_t function; /*  0 struct mdl_function, or header.unknown_function; a wrong one is corrected by the first call */
  uint64_t store;    /*  8 address to store to, in the writable alias */
  uint64_t on;       /* 16 */
  uint64_t off;      /* 24 */
  uint8_t size;      /* 32 1, 2, 4 or 5 */
  uint8_t kind;      /* 33 enum mdl_site_kind */
  uint8_t flags;     /* 34 enum mdl_site_flag: MDL_VARIES: several functions share the code, so the function is unknown.
                           MDL_SNIPPETS: has snippets. MDL_STEPS: `owner` is its struct mdl_jump */
  uint8_t recording; /* 35 1 while the recorder requests the site */
  uint32_t index;    /* 36 of this record in header.sites */
  uint64_t address;  /* 40 of the instruction */
  uint64_t stub;     /* 48 the trampoline's head */
  uint32_t image;    /* 56 path of the ELF file, as in mdl_function */
  uint32_t bodies;   /* 60 offset in the file of the struct mdl_bodies that its stub leads to; 0: not open to clients */
  uint64_t client;   /* 64 the C function that runs here (fastinst.h), 0 for none */
  uint64_t snippets; /* 72 code of its snippets; mdl_bodies.resume while it has none */
  uint64_t owner;    /* 80 exit hooks: struct mdl_function whose code has the instruction, 0: one without probes. If it
                           differs from `function`, that call was inlined here */
};

/* The jump at an entry that an atomic unit splits. It leads to a gate, which is the site's `store`. The agent's process
 * installs and removes it in steps (code/entry_jumps.c). */
enum { MDL_NO_HEAD = 0xFF };
struct mdl_jump {
  uint64_t at;     /*  0 the entry, in the writable alias */
  uint64_t on;     /*  8 five bytes: the jump */
  uint64_t off;    /* 16 the function's own */
  uint64_t next;   /* 24 the next jump of a batch that changes */
  uint8_t front;   /* 32 bytes before the boundary: 1 to 4 */
  uint8_t head;    /* 33 offset of the function's instruction that the boundary splits; or MDL_NO_HEAD */
  uint8_t shown;   /* 34 1 while the jump is installed */
  uint8_t held;    /* 35 1 while the sampled profiler measures its function */
  uint8_t changes; /* 36 1 between two steps */
  uint8_t reserved[3];
};

/* Possible targets of the stubs of one text and kind. All except `record` continue in `record` if the recorder requests the
 * site. */
struct mdl_bodies {
  int64_t alias;         /*  0 from a stub's code to its writable alias */
  uint64_t displacement; /*  8 offset in the stub of the 32-bit displacement, counted from its end, that a store changes */
  uint64_t record;       /* 16 records */
  uint64_t client;       /* 24 calls the site's client */
  uint64_t count;        /* 32 counts in mdl_thread.counts */
  uint64_t snippets;     /* 40 runs the site's snippets, then its client, if it has one */
  uint64_t resume;       /* 48 continuation of snippets */
  uint64_t counter;      /* 56 first eight bytes of a stub that leads to its counter; 0: it has none */
};

/* In mdl_call.inside.
 * MDL_CALL_MEASURED: start is how long it took; before: exact mode, what its callees took of that; sampled mode, when it ended.
 * MDL_CALL_UNTIMED: its return is not recorded. */
#define MDL_CALL_WEIGHED (1ULL << 63)
#define MDL_CALL_MEASURED (1ULL << 62)
#define MDL_CALL_UNTIMED (1ULL << 61)

/*
 * A timed call, from its entry to its return. A whole function's call is three words on the program's own stack, between its
 * return address and the stub's (org.mdlagent.arch.x86.emit.FunctionStub). Nothing else is kept, so a call that is left by a
 * jump or an exception vanishes with its stack. A hooked function's call is in a frame of the shadow stack.
 */
struct mdl_call {
  uint64_t inside; /*  0 weight 1: total - nested of the thread's row when the call began, from which its return computes the
                         time within it (rows.h). Larger weights: MDL_CALL_WEIGHED, and the weight in the lower half, so that
                         the mean may change during the call */
  uint64_t before; /*  8 mdl_thread.taken when it began; MDL_CPU_TIME in sampled mode: tsc when it began */
  uint64_t start;  /* 16 when it began; MDL_CPU_TIME: by the thread's CPU time; 0: it is not recorded */
};

/* A frame of the shadow stack: a call between hooks. key 0: being filled, or free. */
struct mdl_frame {
  uint64_t key;         /*  0 canonical frame address of the call, which is unique among live frames */
  uint64_t function;    /*  8 struct mdl_function */
  struct mdl_call call; /* 16 */
};

/* A process of the session: the agent's, or a descendant by fork. */
enum mdl_process_state { MDL_PROCESS_LIVE = 0, MDL_PROCESS_LEADERLESS = 1, MDL_PROCESS_ENDED = 2 };

struct mdl_process {
  uint64_t owner[5];    /*  0 pthread_mutex_t, robust: held by a thread that lives as long as the process, or, when it is
                              leaderless, by nobody. Its first four bytes are 0 when it is free; the kernel sets
                              FUTEX_OWNER_DIED in them when the thread is gone, for whatever reason */
  uint64_t next;        /* 40 struct mdl_process */
  uint64_t started_nanos; /* 48 CLOCK_REALTIME; 0 while the record is being filled */
  uint64_t ended_nanos; /* 56 CLOCK_REALTIME; 0 while it is not known to have ended */
  uint64_t calls;       /* 64 calls that have left its own blocks */
  uint64_t cpu_nanos;   /* 72 of a forked process: CPU time that program_cpu has added up; written by the agent, as the
                              other cpu_ fields */
  uint32_t pid;         /* 80 */
  uint32_t parent;      /* 84 */
  int32_t exit_status;  /* 88 -1: unknown: it runs, was killed, or has executed another program */
  uint32_t state;       /* 92 enum mdl_process_state */
  uint32_t flags;       /* 96 enum mdl_process_flag */
  uint32_t cpu_rate;    /* 100 thousandths of a processor, lately */
  uint64_t last_cpu_nanos; /* 104 its CPU time when it ended, 0 when that is not known; written by itself */
  uint64_t cpu_read;    /* 112 last value from the kernel */
  uint64_t cpu_changed; /* 120 CLOCK_MONOTONIC, since when `cpu_read` is unchanged */
  uint64_t apart;       /* 128 inode of the file that it records into since it gave up rights, 0 for none. Until it is 0 again, the
                               agent alone writes to this record and to the process's blocks */
  uint64_t forks;       /* 136 the header's forks before its own; 0 for one that was forked before the session knew */
};
/* MDL_ELSEWHERE: in a pid namespace of its own, where ids mean something else.
 * MDL_APART: it has given up rights, and has left the family with them (agent/border.c).
 * MDL_EXECUTED: it has executed another program, or is about to (agent/execute.c).
 * MDL_OWN_SESSION: it has its own session, because the agent was gone before its probes were in place. */
enum mdl_process_flag { MDL_ELSEWHERE = 1, MDL_APART = 2, MDL_EXECUTED = 4, MDL_OWN_SESSION = 8 };

enum mdl_thread_state { MDL_THREAD_FREE = 0, MDL_THREAD_LIVE = 1 };

struct mdl_thread {
  uint64_t sp;        /*   0 next free struct mdl_frame: first line is the thread's own */
  uint64_t sp_limit;  /*   8 sp never passes it */
  uint64_t sp_base;   /*  16 a sentinel frame with key ~0 */
  uint64_t rows;      /*  24 struct mdl_row *[function_capacity]: exact and mixed mode */
  uint64_t ring;      /*  32 struct mdl_record[ring_mask + 1]: sampled and mixed mode */
  uint64_t ring_mask; /*  40 */
  uint64_t head;      /*  48 records reserved by the thread; only grows */
  uint64_t dropped;   /*  56 records that found the ring full */
  uint64_t unmatched; /*  64 frames of the shadow stack that no exit closed (longjmp, unwinding past the probe) */
  uint64_t overflow;  /*  72 calls counted but not timed: the shadow stack was full, or the call too deep (stack_room) */
  uint64_t refused;   /*  80 exact calls that found no memory for their row */
  uint64_t calls;     /*  88 uint64_t[function_capacity]: calls entered while probes were on; only grow */
  uint64_t stack_low; /*  96 lowest address of the thread's own stack; lower addresses are on other stacks. Calls less than
                             stack_room above it are counted, not timed, to leave the program its stack */
  uint64_t taken;     /* 104 ticks to subtract from enclosing calls, plus the tsc at the start: exact mode: time of returned calls;
                             else their recording cost (record_leaves_out) */
  uint64_t counts;    /* 112 uint64_t[site_capacity], 0 until needed: calls counted for clients (FASTINST_COUNT) */
  uint64_t skipped;   /* 120 calls that did not call their client, because the thread was in one */
  uint64_t tail;      /* 128 records drained; only grows; written by the agent alone */
  uint32_t tid;       /* 136 */
  uint32_t pid;       /* 140 */
  uint32_t state;     /* 144 enum mdl_thread_state */
  uint32_t in_call;   /* 148 1 during a snippet's call of a function */
  uint64_t next;      /* 152 struct mdl_thread */
  uint64_t cpu_nanos; /* 160 CPU time of the thread that program_cpu has added up; written by the agent, and at attachment */
  uint64_t values;    /* 168 uint64_t[MDL_VALUES], 0 until needed: what snippets write */
  uint64_t countdowns; /* 176 struct mdl_countdown[function_capacity]: mixed mode */
  uint64_t chance;    /* 184 the next interval between timed calls, for a mean of 1: exponentially distributed, in 65536ths */
  uint64_t owner[5];  /* 192 pthread_mutex_t, robust: held by the thread that has the block */
  uint64_t process;   /* 232 struct mdl_process that had it last, 0 for none */
  uint64_t credited;  /* 240 sum of calls[] when that process got it: the calls of others */
  uint32_t shared;    /* 248 1 when other processes' calls are in it too */
  uint32_t in_client; /* 252 incremented when the thread enters and leaves a client's function, so odd inside; ~0: it never
                             enters one */
  uint64_t paid;      /* 256 mixed mode: tsc up to which the thread's time has paid for measuring (SpendingLimit) */
  uint64_t first;     /* 264 head when the thread got the block: earlier records are of ended threads */
  uint64_t born;      /* 272 tsc when the process was forked, 0 if it was not: a call with a smaller mdl_call.before is its
                             parent's. ~0: the thread records nothing */
  uint64_t stack_room; /* 280 bytes, from stack_low on */
  uint32_t apart;      /* 288 number of its table in its process's file, from 1; 0 for none */
  uint32_t pad;        /* 292 */
  uint64_t block_counts; /* 296 uint64_t[mdl_blocks.capacity], 0 until needed */
  uint64_t slow_ring; /* 304 struct mdl_slow_call[MDL_SLOW_RING], 0 until needed */
  uint64_t slow_head; /* 312 records reserved there; only grows */
  uint64_t slow_kept; /* 320 records before this one are in the log of slow calls, or belong to no slow call */
  uint64_t cpu_due;   /* 328 tsc after which a call that begins reads the thread's CPU clock */
};

/* How a thread times the calls of a function whose mean is above 1. All 0: nothing is drawn yet. */
struct mdl_countdown {
  int32_t left;    /* 0 calls up to and including the next timed one */
  uint32_t weight; /* 4 weight of that call. The agent stores 0 when the function's mean changes */
};

/*
 * A thread's values; only snippets write them. The first is the number of snippet bodies that the thread is in: freed code and
 * values are reused only after it has been 0 (grace period). The last is the predicted cost of all snippets that have run, in
 * ticks. A timer has three values: starts minus stops, time of the first open start, and the measured sum.
 */
#define MDL_VALUES 12288u
enum {
  MDL_VALUE_DEPTH = 0,
  MDL_VALUE_FIRST = 1, /* available to metrics */
  MDL_VALUE_COST = MDL_VALUES - 1,
  MDL_TIMER_NESTING = 0,
  MDL_TIMER_START = 1,
  MDL_TIMER_TOTAL = 2,
  MDL_TIMER_SIZE = 3
};

/* MDL_VALUE_FLAG: a constraint's flag; cleared when the thread ends. A timer's kind is stored for the first of its values; wall
 * timers count ticks, process timers nanoseconds of the thread's CPU time. MDL_EVENTS: the kernel counts; threads have no
 * value. */
enum mdl_value_kind {
  MDL_VALUE_NONE = 0,
  MDL_VALUE_COUNTER = 1,
  MDL_VALUE_FLAG = 2,
  MDL_WALL_TIMER = 3,
  MDL_PROCESS_TIMER = 4,
  MDL_EVENTS = 5
};

/* MDL_METRIC_OFF: the record and its values may be reused.
 * MDL_METRIC_RESERVED: becomes on when its focus is no longer empty (a file that may be opened). */
enum mdl_metric_state { MDL_METRIC_OFF = 0, MDL_METRIC_ON = 1, MDL_METRIC_RESERVED = 2 };
enum mdl_metric_units { MDL_RATE = 0, MDL_AMOUNT = 1, MDL_SAMPLED = 2 };
enum mdl_metric_combine { MDL_SUM = 0, MDL_MIN = 1, MDL_MAX = 2, MDL_AVERAGE = 3 };

/* A metric's amount at a time. When the history is full, every other point is dropped, so it always spans the whole time. */
struct mdl_point {
  uint64_t tsc;  /* 0 */
  double amount; /* 8 ticks, nanoseconds or counts */
};
#define MDL_HISTORY_POINTS 240u

/* A metric that is measured for a focus: how readers find its values in each thread. */
struct mdl_metric {
  uint64_t next;       /*  0 struct mdl_metric */
  uint32_t state;      /*  8 enum mdl_metric_state, stored with release */
  uint32_t id;         /* 12 offset in the file of a struct mdl_string: the name that requests use */
  uint32_t name;       /* 16 for people */
  uint32_t units;      /* 20 for people */
  uint32_t focus;      /* 24 paths of resources, one a line; 0 for the whole program */
  uint32_t units_type; /* 28 enum mdl_metric_units */
  uint32_t combine;    /* 32 enum mdl_metric_combine: how the values of threads make one */
  uint32_t kind;       /* 36 enum mdl_value_kind */
  uint32_t value;      /* 40 first of its values */
  uint32_t errors;     /* 44 counter of errors, 0 for none */
  uint32_t pid;        /* 48 whose values alone count, 0 for all */
  uint32_t tid;        /* 52 the same */
  uint64_t since_tsc;  /* 56 when it was enabled */
  uint64_t history;    /* 64 number of points; upper 32 bits: the half of .points that holds them. The writer fills the other
                          half, then publishes it by this word */
  uint64_t events;     /* 72 MDL_EVENTS: the kernel's count at the last look */
  uint64_t points[960]; /* 80 struct mdl_point[2][MDL_HISTORY_POINTS] */
};

/* A timed call that tells its caller; its duration is in its thread's row. Complete when seq == (uint32_t)(position + 1), where
 * position counts from 0. */
struct mdl_record {
  uint64_t start;    /*  0 tsc */
  uint64_t duration; /*  8 ticks */
  uint64_t caller;   /* 16 return address; of an inlined call, its exit hook */
  uint32_t function; /* 24 index */
  uint32_t seq;      /* 28 written last */
};

/* An HdrHistogram with two significant digits, in sparse chunks, in ticks. With v the duration:
 * k = bsr(v | 255), shift = k - 7, index = (v >> shift) + (shift << 7); chunk index / 128, slot index % 128. */
#define MDL_CHUNK_SLOTS 128u
#define MDL_ROW_CHUNKS 48u

struct mdl_row {
  uint64_t count;    /*  0 calls; sampled mode: sum of weights */
  uint64_t total;    /*  8 ticks, of all these calls */
  uint64_t min;      /* 16 ~0 when empty */
  uint64_t max;      /* 24 */
  uint64_t self;     /* 32 ticks without probed callees: exact mode */
  uint32_t function; /* 40 index */
  uint32_t weight;   /* 44 in a thread's row, sampled mode: largest weight of a call; 0: 1 */
  uint64_t samples;  /* 48 calls that were timed, in sampled mode */
  uint64_t nested;   /* 56 part of total: time of calls nested in calls of the same function, which total has twice */
  uint64_t callers;  /* 64 struct mdl_callers: exact mode, 0 while empty */
  uint64_t chunks[MDL_ROW_CHUNKS]; /* 72 uint64_t[MDL_CHUNK_SLOTS] each, 0 while empty */
};

/* The return addresses (places) of a function's calls in a thread: a hash table by the low bits of .from. Two callers may
 * share a place if one is inlined in the other. */
#define MDL_CALLER_LISTS 64u
#define MDL_CALLER_LIST_MAX 16u /* structures in a list; calls from further places are counted in .others */

struct mdl_callers {
  uint64_t lists[64]; /*   0 newest struct mdl_caller[MDL_CALLER_LISTS]; lists through .next */
  uint64_t others;    /* 512 struct mdl_caller with .from 0; 0 until a list is full */
};

/* In mdl_caller.caller: not yet known; unknown code. */
#define MDL_CALLER_UNRESOLVED 0u
#define MDL_CALLER_UNKNOWN (~0u)

/* Complete before it is in the list. */
struct mdl_caller {
  uint64_t next;     /*  0 struct mdl_caller: the first field, because generated code follows it from the table on */
  uint64_t next_new; /*  8 struct mdl_caller */
  uint64_t from;     /* 16 as mdl_record.caller */
  uint64_t calls;    /* 24 that have returned */
  uint64_t total;    /* 32 ticks, of all these calls */
  uint32_t function; /* 40 index of what is called */
  uint32_t caller;   /* 44 index of the calling function plus 1, by the agent; or one of the above */
  uint64_t below;    /* 48 struct mdl_function of the frame below on the shadow stack, 0 for none: it may have been left by a jump */
};

/* The calls of a function by one caller; written by the agent alone, complete before it is in the list. */
#define MDL_CALLERS 256u        /* in a list at most, MDL_CALLER_OTHER included */
#define MDL_CALLER_NONE (~0u)   /* code without probes, or none that is known */
#define MDL_CALLER_OTHER (~1u)  /* functions that found the list full */

struct mdl_edge {
  uint64_t next;    /*  0 struct mdl_edge */
  uint32_t caller;  /*  8 index of the function, or one of the above */
  uint32_t pad;     /* 12 */
  uint64_t calls;   /* 16 those that the samples stand for */
  uint64_t total;   /* 24 ticks, of all these calls */
  uint64_t samples; /* 32 calls that have told their caller */
};

/*
 * Slices of time, of the last hour at least; only the agent writes them. Slice n, counted from 0, is in rows[n % MDL_SLICES].
 * Slices from complete - MDL_SLICES + 1 on are readable. Before the agent overwrites the row or a chunk of a slice, it stores a
 * larger `complete`. So a reader copies a slice, reads `complete` again, and drops the copy if the slice is too old.
 */
#define MDL_SLICES 480u

struct mdl_slices {
  uint64_t complete;   /*  0 slices that have ended; stored with release */
  uint64_t pad[7];     /*  8 */
  uint64_t rows[3840]; /* 64 struct mdl_slice[MDL_SLICES] */
};

/*
 * For each function with calls in the slice, these numbers in unsigned LEB128 (DWARF 5, section 7.6):
 *
 *   index of the function, calls (in sampled mode as mdl_function estimates them) and their variance, rounded
 *   count, total, self and samples, as in mdl_row
 *   number of slots; for each the distance to the previous one, and its calls. A slot is MDL_SLICE_SLOT of a row's
 *   number of callers; for each its index plus 1, or 0 if unknown, and calls, total and samples as in mdl_edge
 */
#define MDL_SLICE_SLOT 8u
#define MDL_SLICE_SLOTS (MDL_ROW_CHUNKS * MDL_CHUNK_SLOTS / MDL_SLICE_SLOT) /* of a slice's histogram */

struct mdl_slice {
  uint64_t start_tsc;         /*  0 */
  uint64_t end_tsc;           /*  8 */
  uint64_t chunks;            /* 16 first struct mdl_slice_chunk, 0 for none */
  uint32_t size;              /* 24 bytes of all its functions */
  uint32_t functions;         /* 28 whose numbers these are */
  uint32_t left_out;          /* 32 functions with the least time, left out for lack of room */
  uint32_t pad;               /* 36 */
  uint64_t agent_cpu_nanos;   /* 40 of the agent's threads, in the slice */
  uint64_t program_cpu_nanos; /* 48 of the program's, in sampled mode */
  uint64_t probe_ticks;       /* 56 that the probes have cost, as predicted */
};

#define MDL_SLICE_CHUNK_BYTES 4088u

struct mdl_slice_chunk {
  uint64_t next;       /* 0 struct mdl_slice_chunk */
  uint8_t bytes[4088]; /* 8 */
};

/*
 * What a thread does at a patcher's trapping byte. One permanent row per address. The action is one word, so it is read
 * atomically; it is published before the byte.
 */
enum mdl_trap_kind {
  MDL_TRAP_NONE = 0, /* no patch in progress: retry at the address, where the trapping byte is gone */
  MDL_TRAP_JUMP = 1, /* on at the target */
  MDL_TRAP_CALL = 2, /* continue at the target, with address + length as the return address */
  MDL_TRAP_SPIN = 3, /* as in the paper: wait until the byte has changed, then retry */
};

#define MDL_TRAP_LENGTH_SHIFT 48
#define MDL_TRAP_KIND_SHIFT 56

struct mdl_trap {
  uint64_t address; /*  0 of the trapping byte */
  uint64_t action;  /*  8 target | length << MDL_TRAP_LENGTH_SHIFT | enum mdl_trap_kind << MDL_TRAP_KIND_SHIFT */
  uint64_t hits;    /* 16 threads that came here */
  uint64_t pad;     /* 24 */
};

/* Rows by address: open addressing, linear probing, slot = ((address * 0x9E3779B97F4A7C15) >> 32) & mask; 0 ends a
 * chain. When it is half full, a larger index replaces it; the old one stays, because readers may still use it. */
struct mdl_trap_index {
  uint64_t mask;   /* 0 slots - 1 */
  uint64_t rows[]; /* 8 struct mdl_trap * */
};

/*
 * Code in which samples found threads: of a function, if known. Only the agent writes it; complete before it is counted.
 */
enum mdl_pc_frame_code { MDL_PC_ELSEWHERE = -1, MDL_PC_PROBES = -2, MDL_PC_CUT = -3, MDL_PC_IMAGE = -4, MDL_PC_NAMED = -5 };

struct mdl_pc_frame {
  uint64_t samples; /*  0 in its own code */
  uint64_t address; /*  8 MDL_PC_IMAGE: where that code begins, at link time */
  int32_t function; /* 16 index of the probed function that contains the code; or enum mdl_pc_frame_code: unknown code; the agent's;
                          the unknown outer part of paths; an image's code without probes; code made at run time that has a
                          name */
  uint32_t image;   /* 20 MDL_PC_IMAGE: path of the ELF file; MDL_PC_NAMED: that name; as offset in the file of a struct mdl_string */
  uint32_t build;   /* 24 MDL_PC_IMAGE: its build id, 0 when it has none */
  uint32_t pad;     /* 28 */
};

/* A call path: its parent's path and one more frame. Node 0 is the root. Parents come before their children. */
struct mdl_pc_node {
  uint64_t samples; /*  0 on this path, in the last frame's own code */
  uint64_t waits;   /*  8 nanoseconds that threads were off the processors there, except waits for a processor */
  uint32_t parent;  /* 16 */
  uint32_t frame;   /* 20 */
};

/* One sample. It is counted in a frame and a node, too. */
struct mdl_pc_sample {
  uint64_t address; /*  0 of the instruction, less the bias of its image */
  uint32_t millis;  /*  8 since `opened_tsc` */
  uint32_t node;    /* 12 0 where its path found no room */
  uint32_t thread;  /* 16 number of a struct mdl_pc_thread */
  uint32_t weight;  /* 20 how often it was counted */
};

/* A sampled thread. Thread 0 stands for all threads for which the table has no room. */
struct mdl_pc_thread {
  uint64_t samples; /*  0 */
  int32_t tid;      /*  8 */
  int32_t pid;      /* 12 */
  char name[16];    /* 16 at one of its samples, NUL-terminated; "" if it could not be read */
};

#define MDL_PC_CHUNK 1024u
#define MDL_PC_LOG 65536u
#define MDL_PC_THREADS 4096u
#define MDL_PC_FRAMES 16384u
#define MDL_PC_NODES 131072u

/*
 * Samples of the threads' user-mode CPU time, with call paths (agent/pc_samples.h). Only grows; only the agent writes it. Each
 * sample is added to `samples`, one frame and one node, with its weight: the number of periods that it represents (threads that
 * wait often are sampled in one second of several). Frames 0 to 2 are MDL_PC_ELSEWHERE, MDL_PC_PROBES and MDL_PC_CUT.
 *
 * With MDL_KERNEL_EVENTS, each event of a kind is a sample, in kernel mode, too.
 */
struct mdl_pc_samples {
  uint64_t period_nanos; /*   0 CPU time between two samples of a thread; with MDL_KERNEL_EVENTS 1 */
  uint64_t samples;      /*   8 of all */
  uint64_t squares;      /*  16 of how often each sample was counted, added up */
  uint64_t lost;         /*  24 samples lost because the agent was late; not in `samples` */
  uint64_t no_table;     /*  32 samples whose known path begins in code without unwind tables */
  uint64_t cut;          /*  40 samples whose path is longer than the copy of the stack */
  uint64_t left_out;     /*  48 samples without room for their path: in frames only */
  uint32_t frame_count;  /*  56 published with release after the rows */
  uint32_t node_count;   /*  60 the same */
  uint64_t frames[16];   /*  64 struct mdl_pc_frame[MDL_PC_CHUNK] */
  uint64_t nodes[128];   /* 192 struct mdl_pc_node[MDL_PC_CHUNK] */

  /* A log of single samples, in the order in which they were read. When it is full, half of it is dropped, chosen at random. From then
   * on half of the new samples are logged. Each logged sample stands for 2^thinned. */
  uint64_t opened_tsc;   /* 1216 */
  uint32_t log_count;    /* 1224 published with release after the rows */
  uint32_t thread_count; /* 1228 the same */
  uint32_t thinned;      /* 1232 */
  uint32_t log_version;  /* 1236 odd while samples are dropped */
  uint64_t log[64];      /* 1240 struct mdl_pc_sample[MDL_PC_CHUNK] */
  uint64_t threads[4];   /* 1752 struct mdl_pc_thread[MDL_PC_CHUNK] */
  uint64_t event;        /* 1784 enum perf_sw_ids: what is sampled */
  uint64_t without_stack; /* 1792 with MDL_KERNEL_EVENTS: samples added to the last path of their thread with the same innermost frame */
};

/*
 * Basic blocks of functions that run as copies with counters (record/block_counts.h). A block ends at a jump, a return, a call or a
 * system call, and before code that is jumped to. A block's count is the sum of its incoming arcs, and of its outgoing arcs. These
 * equations give the counts of blocks and arcs without a counter.
 */
struct mdl_blocks {
  uint64_t at;             /*  0 address of the counters, relative to a thread's base of GS */
  uint64_t room;           /*  8 bytes reserved there */
  uint32_t capacity;       /* 16 counters of a thread */
  uint32_t count;          /* 20 counters in use */
  uint64_t table;          /* 24 struct mdl_block[block_capacity] */
  uint32_t block_capacity; /* 32 */
  uint32_t block_count;    /* 36 published with release after the rows, before any of their counters is used */
  uint64_t arcs;           /* 40 struct mdl_arc[arc_capacity] */
  uint32_t arc_capacity;   /* 48 */
  uint32_t arc_count;      /* 52 published with release after the rows and the blocks' count */
};

struct mdl_block {
  uint64_t address;      /*  0 of its first instruction, less the bias of its image */
  uint32_t size;         /*  8 bytes */
  uint32_t function;     /* 12 index of the function, whose image it is in */
  uint32_t instructions; /* 16 */
  uint32_t last;         /* 20 offset of its last instruction */
  uint64_t lines;        /* 24 uint32_t[]: number of its source lines; for each the file, as offset of a struct mdl_string, and the
                               line. 0: unknown */
  uint32_t counter;      /* 32 number of its counter; UINT32_MAX: none */
  uint32_t reserved;     /* 36 */
};

struct mdl_arc {
  uint32_t from;    /*  0 number of a block; UINT32_MAX: outside of the function */
  uint32_t to;      /*  4 the same */
  uint32_t kind;    /*  8 enum mdl_arc_kind */
  uint32_t counter; /* 12 number of its counter; UINT32_MAX: none */
  uint32_t target;  /* 16 target outside of the function, less the image's bias; 0: unknown */
};

/* As FunctionCopy.Arc.Kind. MDL_ARC_UNFORESEEN is no arc between blocks: it counts computed jumps of its block's function to
 * unforeseen targets. */
enum mdl_arc_kind {
  MDL_ARC_NEXT = 0,
  MDL_ARC_JUMP = 1,
  MDL_ARC_COMPUTED = 2,
  MDL_ARC_CALL = 3,
  MDL_ARC_RETURN = 4,
  MDL_ARC_ENTRY = 5,
  MDL_ARC_LEAVE = 6,
  MDL_ARC_HANDLER = 7,
  MDL_ARC_UNFORESEEN = 8
};

/*
 * Slow calls, a flight recorder (record/slow_calls.h). A thread's ring has its latest calls of mdl_function.slow ticks or more, in the
 * order of their ends, and readings of its CPU clock. When a slow call returns, the thread copies the call and its callees from the
 * ring to the log. So a call's callees come before it in the log. `seq` as in mdl_record.
 */
#define MDL_SLOW_RING 1024u
#define MDL_SLOW_LOG 32768u
#define MDL_SLOW_WAITS 4096u
#define MDL_SLOW_READING (~0u) /* .function of a reading of the CPU clock, at `end` */

struct mdl_slow_call {
  uint64_t start;     /*  0 tsc */
  uint64_t end;       /*  8 */
  uint64_t limit;     /* 16 ticks from which on it was slow; 0: not known yet */
  uint64_t cpu_nanos; /* 24 the thread's CPU time at `end`; 0: unknown */
  uint64_t on_cpu;    /* 32 CPU time from the last reading before `start` to `end`, in nanoseconds */
  uint64_t lag;       /* 40 ticks from that reading to `start`; ~0: on_cpu is unknown */
  uint32_t function;  /* 48 index */
  int32_t tid;        /* 52 */
  int32_t pid;        /* 56 */
  uint32_t seq;       /* 60 written last */
};

/* Where a thread waited: the agent saw it on this path, off the processors, at both times, and it had not run in between. */
struct mdl_slow_wait {
  uint64_t since; /*  0 tsc */
  uint64_t until; /*  8 */
  uint32_t node;  /* 16 of mdl_pc_samples */
  int32_t tid;    /* 20 */
  int32_t pid;    /* 24 */
  uint32_t pad;   /* 28 */
};

struct mdl_slow_calls {
  uint64_t threshold;     /*  0 ticks from which on any call is slow; 0: `limits` decide */
  uint64_t limits;        /*  8 uint64_t[function_capacity]: the same by function, 0: none of its calls; written by the agent */
  uint64_t reading_ticks; /* 16 interval between two readings of a thread's CPU clock */
  uint64_t log;           /* 24 struct mdl_slow_call[MDL_SLOW_LOG] */
  uint64_t next;          /* 32 records reserved there; only grows */
  uint64_t slow;          /* 40 slow calls so far */
  uint64_t cut;           /* 48 of these: their first callees had been overwritten in the ring */
  uint64_t waits;         /* 56 struct mdl_slow_wait[MDL_SLOW_WAITS]: a ring, written by the agent alone */
  uint64_t wait_count;    /* 64 published with release; only grows */
};

struct mdl_string {
  uint32_t length;
  char bytes[]; /* UTF-8, and a NUL that does not count */
};

#define MDL_AT(type, field, offset) \
  static_assert(offsetof(struct type, field) == (offset), #type "." #field)
MDL_AT(mdl_header, pid, 48);
MDL_AT(mdl_header, functions, 112);
MDL_AT(mdl_header, threads, 144);
MDL_AT(mdl_header, agent_cpu_nanos, 216);
MDL_AT(mdl_header, lookup, 224);
MDL_AT(mdl_header, traps, 248);
MDL_AT(mdl_header, processes, 256);
MDL_AT(mdl_header, program_cpu_nanos, 336);
MDL_AT(mdl_header, slices, 352);
MDL_AT(mdl_header, boot, 384);
MDL_AT(mdl_header, processes_unprobed, 424);
MDL_AT(mdl_header, program, 512);
MDL_AT(mdl_header, id, 1536);
MDL_AT(mdl_header, directory, 2048);
static_assert(sizeof(struct mdl_header) == 4096, "mdl_header");
MDL_AT(mdl_function, index, 40);
MDL_AT(mdl_function, callers, 64);
MDL_AT(mdl_function, site_list, 112);
static_assert(sizeof(struct mdl_function) == 128, "mdl_function");
MDL_AT(mdl_site, index, 36);
static_assert(sizeof(struct mdl_site) == 88, "mdl_site");
MDL_AT(mdl_bodies, record, 16);
static_assert(sizeof(struct mdl_bodies) == 64, "mdl_bodies");
MDL_AT(mdl_frame, call, 16);
static_assert(sizeof(struct mdl_call) == 24, "mdl_call");
static_assert(sizeof(struct mdl_frame) == 40, "mdl_frame");
static_assert(sizeof(struct mdl_countdown) == 8, "mdl_countdown");
MDL_AT(mdl_thread, tail, 128);
MDL_AT(mdl_thread, owner, 192);
static_assert(sizeof(struct mdl_thread) == 336, "mdl_thread");
static_assert(sizeof(struct mdl_slow_call) == 64, "mdl_slow_call");
MDL_AT(mdl_blocks, table, 24);
static_assert(sizeof(struct mdl_block) == 40, "mdl_block");
static_assert(sizeof(struct mdl_arc) == 20, "mdl_arc");
MDL_AT(mdl_process, started_nanos, 48);
static_assert(sizeof(struct mdl_process) == 144, "mdl_process");
MDL_AT(mdl_metric, since_tsc, 56);
static_assert(sizeof(struct mdl_metric) == 80 + 2 * MDL_HISTORY_POINTS * sizeof(struct mdl_point), "mdl_metric");
static_assert(sizeof(struct mdl_point) == 16, "mdl_point");
static_assert(sizeof(struct mdl_record) == 32, "mdl_record");
MDL_AT(mdl_row, chunks, 72);
static_assert(sizeof(struct mdl_row) == 456, "mdl_row");
MDL_AT(mdl_callers, others, 512);
static_assert(sizeof(struct mdl_callers) == 520, "mdl_callers");
static_assert(sizeof(struct mdl_caller) == 56, "mdl_caller");
static_assert(sizeof(struct mdl_edge) == 40, "mdl_edge");
MDL_AT(mdl_slices, rows, 64);
static_assert(sizeof(struct mdl_slices) == 64 + MDL_SLICES * sizeof(struct mdl_slice), "mdl_slices");
MDL_AT(mdl_slice, agent_cpu_nanos, 40);
static_assert(sizeof(struct mdl_slice) == 64, "mdl_slice");
static_assert(sizeof(struct mdl_slice_chunk) == 8 + MDL_SLICE_CHUNK_BYTES, "mdl_slice_chunk");
MDL_AT(mdl_pc_frame, function, 16);
static_assert(sizeof(struct mdl_pc_frame) == 32, "mdl_pc_frame");
static_assert(sizeof(struct mdl_pc_node) == 24, "mdl_pc_node");
MDL_AT(mdl_pc_samples, frames, 64);
static_assert(sizeof(struct mdl_pc_sample) == 24, "mdl_pc_sample");
static_assert(sizeof(struct mdl_pc_thread) == 32, "mdl_pc_thread");
MDL_AT(mdl_pc_samples, opened_tsc, 64 + sizeof(uint64_t) * (MDL_PC_FRAMES + MDL_PC_NODES) / MDL_PC_CHUNK);
MDL_AT(mdl_pc_samples, log, 1240);
static_assert(sizeof(struct mdl_pc_samples) == 1256 + sizeof(uint64_t) * (MDL_PC_LOG + MDL_PC_THREADS) / MDL_PC_CHUNK,
              "mdl_pc_samples");
MDL_AT(mdl_trap, action, 8);
static_assert(sizeof(struct mdl_trap) == 32, "mdl_trap");
MDL_AT(mdl_trap_index, rows, 8);

#endif
