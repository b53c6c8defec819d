/*
 * The process as the application sees it: its end, its threads, its forks. Agent threads are not part of
 * that picture: they do not end the process, do not keep it alive, and leave its global state alone.
 */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int application_threads = 1;
static _Atomic bool counting; /* threads */
/* ---- agent threads */

static void agent_thread_begins(void) {
  is_agent_thread = true;
  masks_unblock_after_birth();
  record_mute_thread();
  agent_threads_enter();
}

enum { AGENT_WAIT_NANOS_MAX = 2000000000 };

bool process_remove_agent_threads(void) {
  if (!gate_lock_soon()) {
    return false;
  }
  agent_threads_remove(true);
  signals_interrupt_agent();
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + AGENT_WAIT_NANOS_MAX;
  bool some;
  while ((some = agent_threads_signal(SIGILL)) && clock_nanos(CLOCK_MONOTONIC) < deadline) {
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
  }
  agent_threads_remove(false);
  gate_unlock();
  if (!some) {
    signals_give_back();
    process_pid = 0;
  }
  return !some;
}

bool process_has_one_application_thread(void) { return atomic_load(&application_threads) == 1; }

/* An agent thread wants to end the process. Once the application itself is ending, that is no news. */
static _Noreturn void agent_gives_up(const char *what) {
  if (!atomic_load(&process_exiting)) {
    agent_died(what, NULL);
  }
  agent_threads_park();
}

/* ---- the end of threads, and of a process whose main has called pthread_exit */

/* Threads of this process that are not known: neither the application's as counted, nor the agent's. */
static int unknown_threads(void) {
  int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    return 0;
  }
  int tasks = 0;
  char entries[4096];
  for (long length; (length = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < length;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      tasks += entry->d_name[0] != '.';
      at += entry->d_reclen;
    }
  }
  close(directory);
  int leader = syscall(SYS_gettid) != getpid(); /* main is still listed, as a zombie */
  return tasks - atomic_load(&agent_threads) - leader - 1;
}

/*
 * glibc ends the process with exit(0) when its last thread ends. It counts the agent's threads too, so
 * that would never happen. Threads that libc makes for itself (timers, asynchronous I/O) are not
 * counted here, but keep a process alive there; they are the unknown ones.
 */
static void last_application_thread_ended(void) {
  for (int tries = 0; tries < 20; tries++) {
    if (unknown_threads() <= 0) {
      exit(0);
    }
    /* An agent thread that has just ended is listed a little longer. */
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
}

static void thread_ended(void) {
  if (is_agent_thread) {
    agent_threads_leave();
    return;
  }
  record_detach();
  family_leader_ends();
  if (atomic_fetch_sub(&application_threads, 1) == 1) {
    last_application_thread_ended();
  }
}

/* ---- creation of threads */

struct beginning {
  union {
    void *(*routine)(void *);
    int (*c11_routine)(void *);
  };
  void *argument;
  bool by_agent;
  bool trap_blocked;
  size_t stack_bytes;
};

static struct beginning begin(void *pointer) {
  struct beginning beginning = *(struct beginning *)pointer;
  free(pointer);
  if (beginning.by_agent) {
    agent_thread_begins();
  }
  self_stack_bytes = beginning.stack_bytes;
  masks_inherit(beginning.trap_blocked);
  thread_end_watch();
  return beginning;
}

static void *run(void *pointer) {
  struct beginning beginning = begin(pointer);
  return beginning.routine(beginning.argument);
}

static int run_c11(void *pointer) {
  struct beginning beginning = begin(pointer);
  return beginning.c11_routine(beginning.argument);
}

static size_t stack_bytes_of(const pthread_attr_t *attributes) {
  pthread_attr_t defaults;
  size_t bytes = 0;
  if (attributes) {
    pthread_attr_getstacksize(attributes, &bytes);
  } else {
    pthread_attr_init(&defaults);
    pthread_attr_getstacksize(&defaults, &bytes);
    pthread_attr_destroy(&defaults);
  }
  return bytes;
}

static struct beginning *prepare(const pthread_attr_t *attributes, void *argument) {
  struct beginning *beginning = malloc(sizeof *beginning);
  if (beginning) {
    beginning->argument = argument;
    beginning->by_agent = is_agent_thread;
    beginning->trap_blocked = masks_trap_blocked();
    beginning->stack_bytes = stack_bytes_of(attributes);
    atomic_fetch_add(is_agent_thread ? &agent_threads : &application_threads, 1);
  }
  return beginning;
}

static void take_back(struct beginning *beginning) {
  atomic_fetch_sub(beginning->by_agent ? &agent_threads : &application_threads, 1);
  free(beginning);
}

static int create_for_agent(pthread_t *thread, const pthread_attr_t *attributes, struct beginning *beginning) {
  pthread_attr_t defaults;
  pthread_attr_init(&defaults);
  pthread_attr_t *changed = attributes ? (pthread_attr_t *)attributes : &defaults; /* libjvm's own, made for this call */
  int error = masks_block_at_birth(changed);
  if (!error) {
    error = next()->pthread_create(thread, changed, run, beginning);
  }
  pthread_attr_destroy(&defaults);
  return error;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument) {
  if (!atomic_load(&counting)) {
    return next()->pthread_create(thread, attributes, routine, argument);
  }
  struct beginning *beginning = prepare(attributes, argument);
  if (!beginning) {
    return EAGAIN;
  }
  beginning->routine = routine;
  int error = beginning->by_agent ? create_for_agent(thread, attributes, beginning)
                                  : next()->pthread_create(thread, attributes, run, beginning);
  if (error) {
    take_back(beginning);
  }
  return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
  if (!atomic_load(&counting)) {
    return next()->thrd_create(thread, routine, argument);
  }
  struct beginning *beginning = prepare(NULL, argument);
  if (!beginning) {
    return thrd_nomem;
  }
  beginning->c11_routine = routine;
  int error = next()->thrd_create(thread, run_c11, beginning);
  if (error != thrd_success) {
    take_back(beginning);
  }
  return error;
}

static void *run_for_agent(void *routine) {
  agent_thread_begins();
  thread_end_watch();
  return ((void *(*)(void *))routine)(NULL);
}

/* Without memory of malloc(): to give that back, the thread would need an arena of its own. */
int process_start_agent_thread(void *(*routine)(void *)) {
  enum { STACK = 1 << 20 };
  pthread_attr_t attributes;
  pthread_t thread;
  atomic_fetch_add(&agent_threads, 1);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  int error = masks_block_at_birth(&attributes);
  if (!error) {
    error = next()->pthread_create(&thread, &attributes, run_for_agent, (void *)routine);
  }
  pthread_attr_destroy(&attributes);
  if (error) {
    atomic_fetch_sub(&agent_threads, 1);
  }
  return error;
}

/* ---- fork */

static bool gate_held; /* by the forking thread */

static void before_fork(void) {
  if (is_agent_thread) {
    return;
  }
  if (session) {
    __atomic_fetch_add(&session->forks, 1, __ATOMIC_SEQ_CST);
  }
  gate_held = gate_lock_soon();
}

static void after_fork_in_parent(void) {
  if (!is_agent_thread && gate_held) {
    gate_held = false;
    gate_unlock();
  }
}

static void after_fork_in_child(void) {
  sigset_t before;
  signals_block_all_but_trap(&before); /* a handler with probes would find its parent's block and record */
  pid_t parent = process_pid;
  process_pid = parent ? getpid() : 0;
  gate_forked();
  gate_held = false;
  is_agent_thread = false;
  mdl_self = NULL; /* the parent's block is the parent's */
  atomic_store(&application_threads, 1);
  agent_threads_forked();
  signals_forked();
  masks_forked();
  libraries_forked();
  if (parent && !agent_forked() && session) {
    family_forked(parent);
    if (family_agent_is_gone()) {
      code_switch_all_off();
    }
  }
  signals_restore(&before);
}

/* ---- the end of the process */

static void record_end(int status) {
  if (!process_pid || getpid() != process_pid) {
    return; /* a vfork child, or one that may be allowed no system call but the last */
  }
  struct mdl_header *header = session;
  if (!header) {
    return;
  }
  if (family_has_agent()) {
    agent_process_dies();
    session_ended(status);
    control_end();
  } else {
    record_detach();
  }
  family_leave(status);
}

/* By on_exit: after all destructors, with the status that exit was given or main returned. */
static void at_exit(int status, void *unused) {
  (void)unused;
  record_end(status);
}

/* Libraries' destructors may take away what the JVM uses: from here on its faults are expected. */
__attribute__((destructor)) static void exit_begins(void) { atomic_store(&process_exiting, true); }

EXPORT _Noreturn void exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called exit");
  }
  if (process_pid && getpid() == process_pid) {
    atomic_store(&process_exiting, true);
  }
  next()->exit(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void quick_exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called quick_exit");
  }
  record_end(status);
  next()->quick_exit(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void _exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called _exit");
  }
  record_end(status);
  next()->_exit(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void _Exit(int status) { _exit(status); }

EXPORT _Noreturn void abort(void) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called abort");
  }
  next()->abort();
  __builtin_unreachable();
}

/* ---- the application's global state. Its own calls go on by a tail call: libc may look at the return address. */

/* Destructors of the JVM's libraries would run while their threads live. */
EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
  if (is_agent_thread) {
    return 0;
  }
  return next()->cxa_atexit(function, argument, library);
}

/* The environment is the application's to change, without a lock and at any time. What the agent needs of it, options.c has
 * copied before main began. */
EXPORT char *getenv(const char *name) { return is_agent_thread ? NULL : next()->getenv(name); }

EXPORT char *secure_getenv(const char *name) { return is_agent_thread ? NULL : next()->secure_getenv(name); }

EXPORT char *setlocale(int category, const char *locale) {
  return next()->setlocale(category, is_agent_thread ? NULL : locale);
}

/* Java takes the encoding of file names from it, and the application may not have set any. (newlocale() for the agent's
 * threads would look into the environment.) */
EXPORT char *nl_langinfo(nl_item item) {
  static char utf8[] = "UTF-8";
  return is_agent_thread && item == CODESET ? utf8 : next()->nl_langinfo(item);
}

/* libc looks for the time zone in the environment, and keeps what it finds. */
EXPORT void tzset(void) {
  if (!is_agent_thread) {
    next()->tzset();
  }
}

EXPORT struct tm *localtime_r(const time_t *restrict seconds, struct tm *restrict result) {
  if (is_agent_thread) {
    *result = utc_of(*seconds);
    return result;
  }
  return next()->localtime_r(seconds, result);
}

EXPORT struct tm *gmtime_r(const time_t *restrict seconds, struct tm *restrict result) {
  return is_agent_thread ? localtime_r(seconds, result) : next()->gmtime_r(seconds, result);
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  if (is_agent_thread) {
    return 0;
  }
  return next()->setrlimit(resource, limit);
}

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  _Static_assert(sizeof(struct rlimit64) == sizeof(struct rlimit), "the same function on this architecture");
  return setrlimit(resource, (const struct rlimit *)limit);
}

/* It would write the application's buffers to the agent's descriptors. */
EXPORT int fflush(FILE *stream) {
  if (is_agent_thread && (stream == NULL || stream == stdout || stream == stderr)) {
    return 0;
  }
  return next()->fflush(stream);
}

void process_start(void) {
  process_pid = getpid();
  masks_start();
  if (thread_end_start(thread_ended)) {
    atomic_store(&counting, true);
    thread_end_watch();
  }
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  on_exit(at_exit, NULL);
}
