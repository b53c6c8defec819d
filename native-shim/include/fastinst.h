/*
 * The client interface of probes for C and C++ ("Living on the Edge", PLDI 2016, figure 3): runs your callbacks at the entry
 * and exit of your program's functions, and switches them on and off while the program runs.
 *
 *   static void hello(fastinst_probe probe, void *function) { ... }
 *
 *   fastinst_wait(0, 5000);
 *   fastinst_discover(0, remember, NULL);      calls remember() with the metadata of each probe
 *   fastinst_activate(probe, hello);           hello() runs at the probe, in the thread that reaches it
 *   fastinst_activate(probe, other);           one store of data, no code is touched
 *   fastinst_deactivate(probe);
 *
 * The program links with no library. Probes work when the program is started under the agent (mdl run, or
 * LD_PRELOAD=libmdlagent.so); otherwise every call here returns FASTINST_UNAVAILABLE. The profiler may use the same probes
 * at the same time; MDL_OPTIONS=profile=off, or mdl run --no-profile, leaves all probes to the program.
 *
 * Rules for a callback: it must return (no longjmp, no exception may leave it), and it must be safe in any thread and in
 * signal handlers. It may call probed functions: callbacks do not nest, so those calls count as skipped. errno is preserved.
 * Callbacks run only in the process that has the agent, not in its forked children.
 *
 * Any thread may make the calls below, also in callbacks and in signal handlers. A handler that interrupts its own thread
 * during a change of probes gets FASTINST_BUSY. A call that fails changes nothing.
 */
#ifndef FASTINST_H
#define FASTINST_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This header's own functions have no probes. */
#define FASTINST_INLINE static inline __attribute__((no_instrument_function))

/* Probes are numbered 0 .. n - 1. They keep their numbers; libraries that are loaded later append theirs. When a library
 * is closed, its probes lose their callbacks, and are FASTINST_NO_PROBE until it is loaded again. */
typedef uint32_t fastinst_probe;

/* A callback. function: the address of the function that begins or ends, also where several functions share a probe. */
typedef void (*fastinst_function)(fastinst_probe probe, void *function);

/* Pass this instead of a callback to count calls without a C call. See fastinst_calls(). */
#define FASTINST_COUNT ((fastinst_function)1)

enum fastinst_kind { FASTINST_ENTRY = 0, FASTINST_EXIT = 1 };

enum fastinst_status {
  FASTINST_OK = 0,
  FASTINST_UNAVAILABLE = 1, /* no agent in this process, or the agent has ended */
  FASTINST_NO_PROBE = 2,    /* no such probe, or the agent's filters exclude it */
  FASTINST_NO_FUNCTION = 3, /* the function is NULL */
  FASTINST_TIMEOUT = 4,
  FASTINST_BUSY = 5, /* in a signal handler: the thread was changing probes when it was interrupted */
};

/* Strings live as long as the process; unknown strings are NULL. */
struct fastinst_metadata {
  fastinst_probe probe;
  enum fastinst_kind kind;
  void *function;      /* NULL if known only at the first call, or if several functions share the probe */
  void *address;       /* of the probe's instruction; for the exit of a whole function, the function's first instruction */
  const char *name;    /* demangled */
  const char *symbol;
  const char *image;   /* path of the executable or library */
  const char *file;    /* of the definition; lines are read after the probes are in place, so ask again later */
  uint32_t line;       /* 0 if unknown */
};

typedef void (*fastinst_discovered)(const struct fastinst_metadata *metadata, void *argument);

/* The agent's functions, looked up by name. */
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

/* Waits until there are more than `known` probes. */
FASTINST_INLINE int fastinst_wait(uint32_t known, int timeout_millis) {
  return FASTINST_CALL(wait, known, timeout_millis);
}

/* Calls back, in this thread, for every probe from number `first` on; returns the number to pass as `first` next time. */
FASTINST_INLINE uint32_t fastinst_discover(uint32_t first, fastinst_discovered callback, void *argument) {
  return fastinst_interface() ? fastinst_interface()->discover(first, callback, argument) : first;
}

FASTINST_INLINE int fastinst_describe(fastinst_probe probe, struct fastinst_metadata *metadata) {
  return FASTINST_CALL(describe, probe, metadata);
}

/* Sets the callback of each probe and replaces any earlier one. Calls that begin later, in any thread, see it as soon as
 * their processor has seen the store: well below a microsecond. */
FASTINST_INLINE int fastinst_activate_all(const fastinst_probe *probes, size_t count, fastinst_function function) {
  return FASTINST_CALL(activate, probes, count, function);
}

FASTINST_INLINE int fastinst_activate(fastinst_probe probe, fastinst_function function) {
  return FASTINST_CALL(activate, &probe, 1, function);
}

/* Removes the callbacks of the probes. Threads that are already at a probe may still run one: see fastinst_synchronize(). */
FASTINST_INLINE int fastinst_deactivate_all(const fastinst_probe *probes, size_t count) {
  return FASTINST_CALL(deactivate, probes, count);
}

FASTINST_INLINE int fastinst_deactivate(fastinst_probe probe) { return FASTINST_CALL(deactivate, &probe, 1); }

/* Calls by all threads while the probe was active with FASTINST_COUNT. Never decreases. */
FASTINST_INLINE int fastinst_calls(fastinst_probe probe, uint64_t *calls) { return FASTINST_CALL(calls, probe, calls); }

/* Calls at active probes that ran no callback because their thread was in a callback already. Never decreases. */
FASTINST_INLINE int fastinst_skipped(uint64_t *calls) { return FASTINST_CALL(skipped, calls); }

/* Waits until no other thread runs a callback that was deactivated or replaced before this call; its library can then be
 * unloaded. */
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
