/*
 * Start and death of the agent.
 *
 * The constructor does the least: it reads the options and starts one thread. All else happens on that thread, after
 * startDelayMillis, so that short-lived commands pay next to nothing, and with descriptors of its own, so that it
 * neither keeps the application's open nor loses its own to them. To have some of its own, the thread copies all, and
 * closes the copies. What a program closes meanwhile stays open: a write to a pipe that nobody reads succeeds, an address
 * is in use. So main waits until the copies are closed. A forked child does not wait, since most of them execute another
 * program at once, and its agent's thread makes copies after the delay only.
 *
 * A main that waits does so in the constructor: the dynamic linker runs it without holding the loader's lock, so the
 * agent thread can load libjvm.so meanwhile. Preloaded libraries come last among the libraries and before the
 * executable, so libraries' constructors have run by then, uncounted, and the executable's are counted.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct instant start;
static latch copies_are_closed; /* of main's descriptors; or there are none */
static bool forked;
bool agent_has_own_descriptors;

/* A fork before the JVM is being loaded, as of a daemon's parent, leaves an agent to the child. */
enum phase { NONE, DELAYED, BEGUN, LOADING };
static _Atomic int phase;

/* The agent renews the session's clocks many times a second. */
enum { MISSED_BEATS_MAX = 5 };
uint64_t agent_watch_nanos = 1000000000u;

static const uint64_t WAIT_NANOS_MAX = 30000000000u;
static const uint64_t COPIES_NANOS_MAX = 1000000u; /* some 50,000 on an idle machine */
/* What a JVM and a session need of the address space, and as much again for the application. */
static const uint64_t ADDRESS_SPACE_MIN = 768ULL << 20;

void agent_leaves(const char *what) {
  atomic_store(&phase, NONE);
  agent_died("the program does what a process with further threads cannot do", what);
  if (!process_remove_agent_threads()) {
    log_line("the agent's threads are still there: they do not come to rest", NULL);
  }
  control_end();
}

/* ---- on the watchdog's thread */

/*
 * Counts its own wake-ups and not the time: a process that is stopped, or a machine that sleeps, has no beats and no
 * wake-ups either. It begins when the probes are in place, and does not wait for a first beat: an agent that is stuck
 * from the start has none.
 */
static void *watch(void *unused) {
  (void)unused;
  uint64_t last = __atomic_load_n(&session->now_tsc, __ATOMIC_RELAXED);
  for (int missed = 0; missed < MISSED_BEATS_MAX;) {
    struct timespec pause = {(time_t)(agent_watch_nanos / 1000000000u), (long)(agent_watch_nanos % 1000000000u)};
    nanosleep(&pause, NULL);
    if (agent_is_dead() || atomic_load(&process_exiting)) {
      return NULL;
    }
    family_sweep();
    uint64_t now = __atomic_load_n(&session->now_tsc, __ATOMIC_RELAXED);
    if (now != last) {
      last = now;
      missed = 0;
    } else {
      missed++;
    }
  }
  agent_died("the JVM is stuck or gone: no sign of life for 5 s", NULL);
  return NULL;
}

static void start_watch(void) {
  static _Atomic bool started;
  if (!atomic_exchange(&started, true) && process_start_agent_thread(watch) != 0) {
    log_line("nobody watches the JVM: there is no thread for it", NULL);
  }
}

void agent_ready(void) {
  uint32_t starting = MDL_STARTING;
  uint64_t never = 0;
  __atomic_compare_exchange_n(&session->armed_tsc, &never, __rdtsc(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  __atomic_compare_exchange_n(&session->state, &starting, MDL_ARMED, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  start_watch();
  libraries_begin();
  if (agent_has_own_descriptors) {
    control_start();
  }
  waiters_let_main_go();
  waiters_look_again();
}

/* ---- on the agent thread */

/* An empty table of descriptors. By one call, in which a thread that is delayed holds no copies. */
static bool unshare_descriptors(void) {
  if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
    return true;
  }
  if (unshare(CLONE_FILES) < 0) {
    return false;
  }
  for (int file = 0; file < 65536; file++) { /* before Linux 5.9 */
    close(file);
  }
  return true;
}

static void take_own_descriptors(void) {
  agent_has_own_descriptors = unshare_descriptors();
  latch_open(&copies_are_closed);
  if (!agent_has_own_descriptors) {
    log_line("unshare is refused: the agent's descriptors are among the program's, and there is no control socket", NULL);
    return;
  }
  /* The JVM prints, and takes for granted that 0 to 2 are open. */
  if (open("/dev/null", O_RDWR) < 0) {
    open("/", O_PATH);
  }
  dup2(0, 1);
  dup2(0, 2);
}

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

/* Why this process is better left alone, or NULL. */
static const char *objection(void) {
  if (dlsym(RTLD_DEFAULT, "__tsan_init")) {
    return "the program is built with ThreadSanitizer";
  }
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    uint64_t used = 0;
    char text[64] = "";
    int file = open("/proc/thread-self/statm", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      ssize_t length = read(file, text, sizeof text - 1);
      text[length > 0 ? length : 0] = 0;
      close(file);
      used = strtoull(text, NULL, 10) * 4096;
    }
    if (used + ADDRESS_SPACE_MIN > space.rlim_cur) {
      return "the limit of the address space (ulimit -v) leaves no room for a JVM";
    }
  }
  return NULL;
}

static void *agent_main(void *unused) {
  (void)unused;
  start = instant_now();
  if (!forked) {
    take_own_descriptors();
  }
  struct timespec delay = {options.start_delay_millis / 1000, (long)(options.start_delay_millis % 1000) * 1000000};
  while (nanosleep(&delay, &delay) != 0 && errno == EINTR) {
    /* by libc's own signals: a server that drops its privileges sends them to each thread */
  }
  int delayed = DELAYED;
  if (atomic_load(&process_exiting) || !atomic_compare_exchange_strong(&phase, &delayed, BEGUN)) {
    return NULL;
  }
  if (forked) {
    take_own_descriptors();
  }
  unshare(CLONE_FS); /* by now the program has left a directory that it must not keep in use */
  if (hosts_a_jvm()) {
    atomic_store(&phase, NONE);
    waiters_let_main_go();
    return NULL;
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
  if (!library_directory[0]) {
    library_find_directory();
  }
  int begun = BEGUN;
  atomic_compare_exchange_strong(&phase, &begun, LOADING);
  jvm_run(api_table());
  agent_threads_park(); /* attached to the JVM: its end would be the JVM's business */
}

static void begin(void) {
  atomic_store(&phase, DELAYED);
  int error = process_start_agent_thread(agent_main);
  if (error) {
    atomic_store(&phase, NONE);
    agent_died("its thread cannot be created", strerrorname_np(error));
  } else if (!forked) {
    latch_await(&copies_are_closed, COPIES_NANOS_MAX);
  }
}

bool agent_forked(void) {
  int now = atomic_load(&phase);
  if (now == NONE || now == LOADING) {
    return false;
  }
  session_abandon();
  family_self = NULL;
  life_begins_anew();
  forked = true;
  begin();
  return true;
}

/* ---- on the main thread */

void agent_construct(char *const *environment) {
  if (getauxval(AT_SECURE)) {
    return; /* its environment is that of somebody with less rights */
  }
  options_read(environment);
  process_start();
  if (library_is_relative()) {
    library_find_directory();
  }
  begin();
  if (options.wait && !waiters_hold_main(WAIT_NANOS_MAX)) {
    log_line("the probes are not in place after 30 s: the program starts without them", NULL);
  }
}
