/*
 * Functions of your own at the begin and end of your program's functions, switched on and off while it runs: the client
 * interface of probes ("Living on the Edge", PLDI 2016, figure 3), for C and C++.
 *
 *   static void hello(fastinst_probe probe, void *function) { ... }
 *
 *   fastinst_wait(0, 5000);
 *   fastinst_discover(0, remember, NULL);      remember() gets the metadata of each probe
 *   fastinst_activate(probe, hello);           hello() runs at the probe, in whatever thread comes there
 *   fastinst_activate(probe, other);           one store of data, no code is touched
 *   fastinst_deactivate(probe);
 *
 * A program is not linked with anything for it. It runs with the probes when it is started under the agent (mdl run, or
 * LD_PRELOAD=libmdlagent.so); else every call here returns FASTINST_UNAVAILABLE. The profiler may use the same probes at
 * the same time; MDL_OPTIONS=profile=off, or mdl run --no-profile, leaves all of them to the program.
 *
 * What your function must keep to: it returns (no longjmp, no exception leaves it), and takes for granted that it may run
 * in any thread of the program and in signal handlers that run probed functions. What it calls may be probed: a thread
 * that is in a client's function comes to no other, and such calls are counted as skipped. errno is kept for it. Clients
 * run in the process that has the agent, and not in those that it forks.
 *
 * The calls below may be made by any thread, in clients' functions and in signal handlers too; a handler that interrupts
 * its own thread while that changes probes is told FASTINST_BUSY. When one fails, nothing has changed.
 */
#ifndef FASTINST_H
#define FASTINST_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Without probes of its own. */
#define FASTINST_INLINE static inline __attribute__((no_instrument_function))

/* Dense: the probes are 0 .. n - 1. They keep their numbers, and those of libraries that are loaded later come behind. When
 * a library is closed its probes lose their functions, and are FASTINST_NO_PROBE until it is loaded again. */
typedef uint32_t fastinst_probe;

/* Runs at a probe. function: the address of the function that begins or ends, also where several share a probe. */
typedef void (*fastinst_function)(fastinst_probe probe, void *function);

/* To activate in place of a function: the calls are counted, which costs no call of C. See fastinst_calls(). */
#define FASTINST_COUNT ((fastinst_function)1)

enum fastinst_kind { FASTINST_ENTRY = 0, FASTINST_EXIT = 1 };

enum fastinst_status {
  FASTINST_OK = 0,
  FASTINST_UNAVAILABLE = 1, /* there is no agent in this process, or not any more */
  FASTINST_NO_PROBE = 2,    /* no such probe, or one that the agent's filters leave out */
  FASTINST_NO_FUNCTION = 3, /* the function is NULL */
  FASTINST_TIMEOUT = 4,
  FASTINST_BUSY = 5, /* in a signal handler: the thread was changing probes when it was interrupted */
};

/* Strings live as long as the process; those that are not known are NULL. */
struct fastinst_metadata {
  fastinst_probe probe;
  enum fastinst_kind kind;
  void *function;      /* NULL when the program shows it with the first call only, or several share the probe */
  void *address;       /* of the instruction that is the probe; of the exit of a whole function, its first */
  const char *name;    /* demangled */
  const char *symbol;
  const char *image;   /* path of the executable or library */
  const char *file;    /* where it is defined; lines are read after the probes are in place, so ask again later */
  uint32_t line;       /* 0 when it is not known */
};

typedef void (*fastinst_discovered)(const struct fastinst_metadata *metadata, void *argument);

/* The library's side, found by name. Its functions are those below. */
struct fastinst_interface {
  int (*wait)(uint32_t known, int timeout_millis);
  uint32_t (*discover)(uint32_t first, fastinst_discovered callback, void *argument);
  int (*describe)(fastinst_probe probe, struct fastinst_metadata *metadata);
  int (*activate)(const fastinst_probe *probes, size_t count, fastinst_function function);
  int (*deactivate)(const fastinst_probe *probes, size_t count);
  int (*calls)(fastinst_probe probe, uint64_t *calls);
  int (*skipped)(uint64_t *calls);
  int (*synchronize)(int timeout_millis);
};

FASTINST_INLINE const struct fastinst_interface *fastinst_interface(void) {
  typedef const struct fastinst_interface *(*getter)(void);
  static getter cached;
  static int searched;
  getter get;
  if (!__atomic_load_n(&searched, __ATOMIC_ACQUIRE)) {
    *(void **)&get = dlsym(NULL /* RTLD_DEFAULT */, "fastinst_interface_1");
    __atomic_store_n(&cached, get, __ATOMIC_RELAXED);
    __atomic_store_n(&searched, 1, __ATOMIC_RELEASE);
  }
  get = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  return get ? get() : NULL;
}

#define FASTINST_CALL(function, ...) \
  (fastinst_interface() ? fastinst_interface()->function(__VA_ARGS__) : FASTINST_UNAVAILABLE)

/* Returns when there are more than `known` probes: FASTINST_OK. */
FASTINST_INLINE int fastinst_wait(uint32_t known, int timeout_millis) {
  return FASTINST_CALL(wait, known, timeout_millis);
}

/* Calls back, in this thread, for every probe from number `first` on; returns the number to go on with the next time. */
FASTINST_INLINE uint32_t fastinst_discover(uint32_t first, fastinst_discovered callback, void *argument) {
  return fastinst_interface() ? fastinst_interface()->discover(first, callback, argument) : first;
}

FASTINST_INLINE int fastinst_describe(fastinst_probe probe, struct fastinst_metadata *metadata) {
  return FASTINST_CALL(describe, probe, metadata);
}

/* Lets `function` run at each of the probes, in place of what ran there. Calls that begin later, in any thread, see it as
 * soon as the processor that runs them has fetched the change: well below a microsecond. */
FASTINST_INLINE int fastinst_activate_all(const fastinst_probe *probes, size_t count, fastinst_function function) {
  return FASTINST_CALL(activate, probes, count, function);
}

FASTINST_INLINE int fastinst_activate(fastinst_probe probe, fastinst_function function) {
  return FASTINST_CALL(activate, &probe, 1, function);
}

/* Nothing runs at the probes any more, but for threads that are there already: see fastinst_synchronize(). */
FASTINST_INLINE int fastinst_deactivate_all(const fastinst_probe *probes, size_t count) {
  return FASTINST_CALL(deactivate, probes, count);
}

FASTINST_INLINE int fastinst_deactivate(fastinst_probe probe) { return FASTINST_CALL(deactivate, &probe, 1); }

/* Calls that the probe has seen, by all threads, while it was active with FASTINST_COUNT. Only grows. */
FASTINST_INLINE int fastinst_calls(fastinst_probe probe, uint64_t *calls) { return FASTINST_CALL(calls, probe, calls); }

/* Calls that came to an active probe in a thread that was in a client's function, at any probe. Only grows. */
FASTINST_INLINE int fastinst_skipped(uint64_t *calls) { return FASTINST_CALL(skipped, calls); }

/* Returns when no other thread runs a function any more that was deactivated or replaced before the call, which can then
 * be unloaded. */
FASTINST_INLINE int fastinst_synchronize(int timeout_millis) { return FASTINST_CALL(synchronize, timeout_millis); }

FASTINST_INLINE const char *fastinst_message(int status) {
  switch (status) {
    case FASTINST_OK: return "success";
    case FASTINST_UNAVAILABLE: return "there is no agent in this process, or not any more";
    case FASTINST_NO_PROBE: return "no such probe, or the agent's filters leave it out";
    case FASTINST_NO_FUNCTION: return "the function is NULL";
    case FASTINST_TIMEOUT: return "the time is over";
    case FASTINST_BUSY: return "the interrupted thread is changing probes";
    default: return "no status of this interface";
  }
}

#undef FASTINST_CALL
#undef FASTINST_INLINE

#ifdef __cplusplus
}
#endif
#endif
