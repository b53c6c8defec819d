/*
 * Start and removal of the agent.
 *
 * The constructor only reads the options and starts one thread. Everything else happens on that thread, after
 * startDelayMillis, so that short-lived commands pay almost nothing. The thread has its own descriptors, so that it neither
 * keeps the application's open nor loses its own. To get them it copies the table and closes the copies. A descriptor that
 * the program closes meanwhile stays open: a write to a pipe without readers succeeds, an address stays in use. So main
 * waits until the copies are closed. A forked child does not wait: most children execute another program at once, and the
 * agent's thread makes copies only after the delay.
 *
 * A waiting main waits in the constructor: the dynamic linker does not hold the loader's lock there, so the agent thread can
 * load libjvm.so meanwhile. Preloaded libraries are constructed after all other libraries and before the executable. So
 * constructors of libraries have run uncounted by then, and the executable's are counted.
 */
#include "agent/start.h"

#include "agent/api_table.h"
#include "agent/begin.h"
#include "agent/control.h"
#include "agent/descriptors.h"
#include "agent/exit.h"
#include "agent/jvm.h"
#include "agent/jvm_remains.h"
#include "agent/leave.h"
#include "agent/relatives.h"
#include "agent/removal.h"
#include "agent/stand_in.h"
#include "agent/watch.h"
#include "code/death.h"
#include "os/agent_threads.h"
#include "os/arenas.h"
#include "os/gate.h"
#include "os/glibc.h"
#include "os/library.h"
#include "os/self.h"
#include "os/sys.h"
#include "os/wrapper.h"
#include "process/threads.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/life.h"
#include "session/log.h"
#include "session/options.h"
#include "session/session.h"
#include "session/waiters.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct instant start;
static bool has_no_clock; /* main inherited PR_TSC_SIGSEGV: RDTSC faults */
static pid_t forker; /* the parent that forked this process before it had probes, else 0 */
static int thread_of_forker; /* a thread of the parent's agent */
static _Atomic bool may_return;
static _Atomic int calls_under_way; /* calls under way for which the agent may have to leave */
static pthread_mutex_t leaving = PTHREAD_MUTEX_INITIALIZER; /* serialises threads that confine themselves */

enum phase { NONE, DELAYED, BEGUN };
static _Atomic int phase;

enum { WRAPPER_END_NANOS = 900000000 }; /* most wrappers end right after their program */
static const uint64_t COPIES_NANOS_MAX = 1000000u; /* 1 ms; some 50,000 ns on an idle machine */
/* Address space for the JVM, the session, the threads' frame stacks and the application. With less, the JVM would start
 * and leave too little for threads at their first probes: no call would be recorded. */
static const uint64_t ADDRESS_SPACE_MIN = 1152ULL << 20;

/* ---- on the agent thread */

static int is_jvm_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  return strcmp(name, "libjvm.so") == 0 || strcmp(name, "libjli.so") == 0;
}

static bool hosts_a_jvm(void) {
  gate_lock();
  bool hosts = dl_iterate_phdr(is_jvm_library, NULL) != 0;
  gate_unlock();
  return hosts;
}

/* Why this process must not get an agent, or NULL. */
static const char *objection(void) {
  if (has_no_clock) {
    return "the program may not read the time-stamp counter (PR_SET_TSC)";
  }
  if (dlsym(RTLD_DEFAULT, "__tsan_init")) {
    return "the program is built with ThreadSanitizer";
  }
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    char text[64];
    read_text("/proc/thread-self/statm", text, sizeof text);
    uint64_t used = strtoull(text, NULL, 10) * 4096;
    if (used + ADDRESS_SPACE_MIN > space.rlim_cur) {
      return "the limit of the address space (ulimit -v) leaves no room for a JVM";
    }
  }
  return NULL;
}

/* A debugger stops at every signal, and the JVM raises SIGSEGV on purpose. */
static void tell_traced(void) {
  static const char key[] = "\nTracerPid:\t";
  char text[1024];
  read_text("/proc/thread-self/status", text, sizeof text);
  char *tracer = strstr(text, key);
  if (tracer && tracer[sizeof key - 1] != '0') {
    tracer += sizeof key - 1;
    tracer[strcspn(tracer, "\n")] = 0;
    log_line("process ", tracer, " traces the program. The JVM raises SIGSEGV on purpose; in gdb: handle SIGSEGV nostop noprint pass",
             NULL);
  }
}

/* libc's internal signals interrupt it: a server that drops its privileges sends them to each thread. */
static void delay(void) {
  unsigned last = options.start_delay_millis < STAND_IN_MILLIS ? options.start_delay_millis : STAND_IN_MILLIS;
  uint64_t end = start.mono_nanos + (options.start_delay_millis - last) * 1000000ULL;
  for (uint64_t now = start.mono_nanos; now < end; now = clock_nanos(CLOCK_MONOTONIC)) {
    uint64_t nanos = end - now < watch_nanos ? end - now : watch_nanos;
    nanosleep(&(struct timespec){(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)}, NULL);
    exit_with_application();
  }
  stand_in_delay(last * 1000000ULL);
}

static void *go_without(void) {
  wrapper_hide_agent();
  atomic_store(&phase, NONE);
  waiters_let_main_go();
  return NULL;
}

static void *agent_main(void *unused) {
  (void)unused;
  start = instant_now();
  if (!forker) {
    descriptors_take_own();
  }
  delay();
  while (!forker && stand_in_awaited()) {
    start = instant_now();
    stand_in_delay(WRAPPER_END_NANOS);
  }
  int delayed = DELAYED;
  if (atomic_load(&process_exiting) || !atomic_compare_exchange_strong(&phase, &delayed, BEGUN)) {
    return NULL;
  }
  if (forker) {
    descriptors_take_own();
  }
  if (!stand_in_confirmed() || !kin_meet() || !relatives_await_agent(forker, thread_of_forker, &start)) {
    return go_without();
  }
  if (kin_are_left) { /* it will have its own kin */
    kin_begin_anew();
    if (!kin_meet() || !kin_take_agent()) {
      return go_without();
    }
  }
  wrapper_show_agent();
  arenas_begin_own();
  raw_syscall(SYS_unshare, CLONE_FS); /* by now the program has left a directory that must not stay in use */
  if (!library_directory[0]) {
    library_find_directory();
  }
  if (forker) {
    jvm_remains_unload();
  }
  if (hosts_a_jvm()) {
    return go_without();
  }
  if (session) { /* of an ended process, without probes in this one (agent/fork.c) */
    family_begins_anew();
    session_abandon();
  }
  const char *trouble = agent_begin_session(&start);
  if (!trouble) {
    trouble = objection();
  }
  if (trouble) {
    atomic_store(&phase, NONE);
    agent_died(trouble, NULL);
    return NULL;
  }
  tell_traced();
  watch_start();
  leave_remove_agent = agent_leaves;
  jvm_run(api_table());
  agent_threads_park(); /* a thread attached to the JVM must not end */
}

/* ---- on the main thread */

static int start_thread(void) { return threads_start_agent(agent_main); }

void agent_start(void) {
  has_no_clock = tsc_is_forbidden_to_thread();
  atomic_store(&phase, DELAYED);
  int error = forker ? start_thread() : wrapper_show_thread(start_thread);
  if (error) {
    atomic_store(&phase, NONE);
    if (forker) {
      kin_go_without(1);
    } else {
      agent_died("its thread cannot be created", strerrorname_np(error));
    }
  } else if (!forker) {
    descriptors_await_own(COPIES_NANOS_MAX);
  }
}

bool agent_comes(void) { return atomic_load(&phase) != NONE && !atomic_load(&kin_has_probes); }

void agent_forked(pid_t parent, int thread) {
  leaving = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  atomic_store(&calls_under_way, 0);
  if (agent_comes() && kin && atomic_load(&kin->state) != KIN_OVER) {
    forker = parent;
    thread_of_forker = thread;
    atomic_store(&kin_is_separate, false);
    agent_has_own_descriptors = false;
    agent_start();
  } else {
    atomic_store(&phase, NONE);
  }
}

static void come_back(bool has_threads);
static void come_back_with_threads(void) { come_back(true); }

/* A process that waits for its probes may get them until its thread has gone, and then keeps them. It must not end the
 * family's session. */
static bool leave(const char *what) {
  static const char why[] = "the program does what it must be alone for";
  pid_t pid = process_pid;
  bool delays = atomic_exchange(&phase, NONE) == DELAYED && !forker;
  bool has_agent = kin_has_agent();
  bool waits = forker && !has_agent;
  if (has_agent) {
    agent_died(why, what);
  }
  bool alone = agent_remove_threads();
  process_pid = alone ? pid : process_pid;
  bool returns = alone && (waits || delays) && !atomic_load(&kin_has_probes) && !kin_has_agent();
  atomic_store(&may_return, returns);
  atomic_store(&threads_when_created, returns ? come_back_with_threads : NULL);
  if (returns) {
    if (delays) {
      session_tell_why_not(why, what);
    }
    kin_go_without(waits ? 1 : 0);
    kin_forget();
    process_pid = 0;
    return true;
  }
  if (!alone) {
    log_line("the agent's threads are still there: they do not come to rest", NULL);
  } else {
    if (!session || kin_has_agent()) {
      has_agent = true;
      agent_died(why, what);
    }
    process_is_confined = has_agent || !atomic_load(&kin_has_probes);
    if (waits && process_is_confined && !atomic_load(&kin_has_probes)) {
      kin_go_without(1);
    }
    if (process_is_confined) {
      process_pid = 0;
    }
    kin_forget(); /* including the descriptor by which it could later map the agent's code writable */
  }
  if (has_agent) {
    control_end();
  }
  return alone;
}

bool agent_leaves(const char *what) {
  pthread_mutex_lock(&leaving);
  bool alone = process_pid == 0 || leave(what); /* 0: another thread has removed them already */
  pthread_mutex_unlock(&leaving);
  return alone;
}

void agent_may_have_to_leave(void) { atomic_fetch_add(&calls_under_way, 1); }

/*
 * Its new thread has the remaining rights. Its kin are the processes that it forks from now on. A single-threaded first
 * process of a family may also want to stay single-threaded after the call.
 */
static void come_back(bool has_threads) {
  if (atomic_load(&calls_under_way) == 0 && (forker || has_threads) && atomic_exchange(&may_return, false)) {
    bool gated = gate_lock_soon();
    session_abandon();
    family_self = NULL;
    kin_begin_anew();
    if (gated) {
      gate_unlock();
    }
    process_pid = getpid();
    process_is_confined = false;
    agent_has_own_descriptors = false;
    agent_start();
  }
}

/* Each thread of a server may make the same call: the agent returns after the last call under way. */
void agent_may_return(bool never, bool has_threads) {
  atomic_fetch_sub(&calls_under_way, 1);
  if (never) {
    atomic_store(&may_return, false);
  }
  come_back(has_threads);
}
