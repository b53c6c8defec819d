/*
 * Threads that execute patch sites while they are being patched, and check themselves: every execution
 * returns which version of the site it was. The Java side is org.mdlagent.stress.torture.Executor.
 *
 * Everything is in the session's memory, which forked children share.
 */
#ifndef MDL_TORTURE_H
#define MDL_TORTURE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { MDL_TORTURE_VALUES = 4 };

struct mdl_torture_site {
  uint64_t function;                   /*  0 uint64_t (void): executes the site; returns which version it was */
  uint64_t values[MDL_TORTURE_VALUES]; /*  8 all values that it may return; unused ones repeat another */
  uint64_t pad[3];                     /* 40 */
};

struct mdl_torture_tally {
  uint64_t executions[MDL_TORTURE_VALUES]; /*  0 by value */
  uint64_t last;                           /* 32 index of the last value returned */
};

enum mdl_torture_flag {
  MDL_TORTURE_BLOCKED = 1,  /* blocks every signal in every possible way */
  MDL_TORTURE_SIGNALS = 2,  /* gets 10,000 signals a second, whose handler executes sites as well */
  MDL_TORTURE_IN_CHILD = 4, /* runs in a child that is forked at its start */
};

struct mdl_torture_executor {
  uint64_t sites;           /*   0 struct mdl_torture_site[count] */
  uint64_t count;           /*   8 */
  uint64_t tallies;         /*  16 struct mdl_torture_tally[count] */
  uint64_t focus;           /*  24 uint64_t *: index of the site that a patcher is at, ~0 for none; every other execution is there */
  uint64_t ticks_per_milli; /*  32 */
  int32_t core;             /*  40 to run on, -1 for any */
  uint32_t flags;           /*  44 enum mdl_torture_flag */
  uint32_t stop;            /*  48 */
  int32_t child;            /*  52 the forked child */
  uint64_t thread;          /*  56 pthread_t */
  uint64_t executions;      /*  64 from here on written by the executor */
  uint64_t wrong;           /*  72 executions that returned any other value */
  uint64_t wrong_site;      /*  80 of the first of them */
  uint64_t wrong_value;     /*  88 */
  uint64_t stalled;         /*  96 gaps between executions of more than 10 ms that the scheduler does not explain */
  uint64_t longest_nanos;   /* 104 the longest gap, minus what the scheduler explains */
  uint64_t explained;       /* 112 gaps of more than 10 ms that it explains */
  uint64_t signals;         /* 120 handled */
  uint64_t mask;            /* 128 the kernel's signal mask of the thread as it runs */
  int32_t trouble;          /* 136 errno of what could not be set up, 0 for none */
  uint32_t running;         /* 140 */
  uint64_t changes;         /* 144 executions that met another version than the previous one of the same site */
  uint64_t pad[5];          /* 152 */
};

/* Text of a file that threads execute, and the agent's copy of it, as of mdl attach and mdl detach. */
struct mdl_torture_text {
  uint64_t start;  /*  0 struct mdl_text: executable code memory, whose writable address is the alias */
  uint64_t length; /*  8 */
  uint64_t alias;  /* 16 */
  uint64_t mark;   /* 24 of the file's text */
  int32_t file;    /* 32 its descriptor */
  int32_t pad;     /* 36 */
};

static_assert(sizeof(struct mdl_torture_text) == 40, "mdl_torture_text");
static_assert(sizeof(struct mdl_torture_site) == 64, "mdl_torture_site");
static_assert(offsetof(struct mdl_torture_executor, executions) == 64, "mdl_torture_executor.executions");
static_assert(sizeof(struct mdl_torture_executor) == 192, "mdl_torture_executor");

#endif
