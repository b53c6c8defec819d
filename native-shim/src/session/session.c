#include "session/session.h"

#include "os/agent_threads.h"
#include "os/own_memory.h"
#include "os/process_stat.h"
#include "os/self.h"
#include "os/sys.h"
#include "session/apart.h"
#include "session/directories.h"
#include "session/file.h"
#include "session/kin.h"
#include "session/log.h"
#include "session/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

const char *session_last_resort = "/tmp";
pid_t session_wrapper;

static char id[sizeof((struct mdl_header *)NULL)->id];
static struct session_file file;

struct instant instant_now(void) {
  return (struct instant){
      .tsc = __rdtsc(),
      .mono_nanos = clock_nanos(CLOCK_MONOTONIC),
      .real_nanos = clock_nanos(CLOCK_REALTIME),
  };
}

static void name_session(const char *program, const struct instant *start) {
  const char *slash = strrchr(program, '/');
  const char *name = slash ? slash + 1 : program;
  time_t seconds = (time_t)(start->real_nanos / 1000000000u);
  struct tm utc = utc_of(seconds);
  char when[32];
  strftime(when, sizeof when, "%Y%m%dT%H%M%S", &utc);
  snprintf(id, sizeof id, "%.200s-%u-%s", name, options_readers_pid(process_pid), when);
  for (char *c = id; *c; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      *c = '_';
    }
  }
}

static bool is_taken(void) {
  char memory_file[PATH_MAX], directory[PATH_MAX + sizeof id + 32];
  struct stat status;
  snprintf(memory_file, sizeof memory_file, "%s/mdl-%u/%s.mdl", session_memory_root, geteuid(), id);
  snprintf(directory, sizeof directory, "%s/mdl/sessions/%s", options.state_home, id);
  return lstat(memory_file, &status) == 0 || lstat(directory, &status) == 0;
}

/* A process that executes several programs may have begun another session in the same second. */
static void tell_session_apart(void) {
  enum { NUMBERS = 10 };
  size_t length = strlen(id);
  for (int number = 2; number < NUMBERS && is_taken(); number++) {
    snprintf(id + length, sizeof id - length, "-%d", number);
  }
}

static void read_program(char *program, size_t capacity) {
  static const char deleted[] = " (deleted)";
  /* Not /proc/self: that is the main thread, which may have ended. */
  ssize_t length = readlink("/proc/thread-self/exe", program, capacity - 1);
  if (length <= 0) {
    snprintf(program, capacity, "%s", program_invocation_short_name);
    return;
  }
  program[length] = 0;
  size_t suffix = sizeof deleted - 1;
  if ((size_t)length > suffix && strcmp(program + length - suffix, deleted) == 0) {
    program[(size_t)length - suffix] = 0;
  }
}

/* The program by the name that was executed, which may be a link: redis-server links to redis-check-rdb. Directories are real
 * paths. For a script it is the interpreter. */
static void use_executed_name(char *program, size_t capacity) {
  const char *executed = (const char *)getauxval(AT_EXECFN);
  struct stat named, running;
  if (!executed || strncmp(executed, "/proc/", 6) == 0 || strncmp(executed, "/dev/fd/", 8) == 0 || stat(executed, &named) != 0 ||
      stat("/proc/thread-self/exe", &running) != 0 || named.st_dev != running.st_dev || named.st_ino != running.st_ino) {
    return;
  }
  const char *slash = strrchr(executed, '/'), *name = slash ? slash + 1 : executed;
  char directory[PATH_MAX], real[PATH_MAX];
  snprintf(directory, sizeof directory, "%.*s.", (int)(name - executed), executed);
  if (realpath(directory, real) && strlen(real) + 1 + strlen(name) < capacity) {
    char *end = stpcpy(program, strcmp(real, "/") == 0 ? "" : real);
    *end = '/';
    strcpy(end + 1, name);
  }
}

static uint64_t ticks(void) { return __rdtsc(); }

static uint64_t cpu_nanos(void) { return clock_nanos(CLOCK_THREAD_CPUTIME_ID); }

static int ascending(const void *one, const void *other) {
  uint64_t a = *(const uint64_t *)one;
  uint64_t b = *(const uint64_t *)other;
  return (a > b) - (a < b);
}

/* The time between two successive clock readings: the mean of the lower half, which excludes interrupts and averages over
 * counters that advance in coarse steps. */
static uint32_t reading(uint64_t (*clock)(void)) {
  enum { READINGS = 200, KEPT = READINGS / 2 };
  uint64_t between[READINGS];
  for (int i = 0; i < READINGS; i++) {
    uint64_t before = clock();
    between[i] = clock() - before;
  }
  qsort(between, READINGS, sizeof *between, ascending);
  uint64_t sum = 0;
  for (int i = 0; i < KEPT; i++) {
    sum += between[i];
  }
  return (uint32_t)(sum / KEPT);
}

/* Kernel ticks from boot to the start of this process. */
static uint64_t start_ticks(void) {
  enum { START = 22 };
  char status[1024];
  read_text("/proc/self/stat", status, sizeof status);
  return strtoull(process_stat_field(status, START), NULL, 10);
}

/* Where this process sees its files. */
static void tell_view(struct mdl_header *header) {
  struct stat status;
  if (stat("/", &status) == 0) {
    header->root_device = status.st_dev;
    header->root_inode = status.st_ino;
  }
  if (stat("/proc/self/ns/mnt", &status) == 0) {
    header->mount_namespace = status.st_ino;
  }
}

const char *session_create(const struct instant *start) {
  static char reason[128];
  char program[1024], path[PATH_MAX];
  read_program(program, sizeof program);
  use_executed_name(program, sizeof program);
  name_session(program, start);
  tell_session_apart();

  int error;
  bool given = options.session[0] != 0;
  if (given) {
    snprintf(path, sizeof path, "%s", options.session);
    error = session_file_create(&file, path, id, true);
  } else if (options.state_home[0] &&
             snprintf(path, sizeof path, "%s/mdl/sessions/%s", options.state_home, id) < (int)sizeof path) {
    error = session_file_create(&file, path, id, false);
  } else {
    snprintf(path, sizeof path, "the user's state directory");
    error = -ENOENT;
  }
  if (error && error != -ENOSPC) {
    log_line(path, " cannot be written (", error_name(error), "): the session is here instead", NULL);
    char fallback[64];
    error = private_directory(session_last_resort, fallback, sizeof fallback);
    if (!error) {
      snprintf(path, sizeof path, "%s/%s", fallback, id);
      error = session_file_create(&file, path, id, false);
    }
  }
  if (error) {
    snprintf(reason, sizeof reason, "there is no session file: %s", error_name(error));
    if (error == -ENOSPC && file.directory[0]) {
      log_open(file.directory);
    }
    return reason;
  }

  log_open(file.directory);
  struct mdl_header *header = file.mapping;
  header->version = MDL_VERSION;
  header->header_size = sizeof *header;
  header->base = (uintptr_t)header;
  header->limit = file.limit;
  header->arena_next = sizeof *header;
  header->arena_end = file.backed;
  header->pid = options_readers_pid(process_pid);
  header->wrapper = (uint32_t)session_wrapper;
  header->state = MDL_STARTING;
  header->start_tsc = start->tsc;
  header->start_mono_nanos = start->mono_nanos;
  header->start_real_nanos = start->real_nanos;
  header->start_ticks = start_ticks();
  header->clock_ticks = reading(ticks);
  header->clock_cpu_nanos = reading(cpu_nanos);
  read_text("/proc/sys/kernel/random/boot_id", header->boot, sizeof header->boot);
  header->boot[strcspn(header->boot, "\n")] = 0;
  tell_view(header);
  header->exit_status = -1;
  memcpy(header->program, program, sizeof header->program);
  memcpy(header->id, id, sizeof header->id);
  memcpy(header->directory, file.directory, sizeof header->directory);
  return NULL;
}

void session_tell_why_not(const char *why, const char *what) {
  enum { LOG_BYTES_MAX = 1 << 20 };
  char directory[PATH_MAX], program[1024];
  struct stat status;
  bool fits = options.state_home[0] && snprintf(directory, sizeof directory, "%s/mdl", options.state_home) < (int)sizeof directory;
  if (!fits || session_make_directories(directory)) {
    return;
  }
  log_open(directory);
  if (stat(log_path, &status) < 0 || status.st_size < LOG_BYTES_MAX) {
    read_program(program, sizeof program);
    log_line(program, " (", decimal(process_pid).text, ") has no session, unless it begins threads: ", why, ": ", what, NULL);
  }
  log_path[0] = 0;
}

void session_publish(void) {
  __atomic_store_n(&file.mapping->magic, MDL_MAGIC, __ATOMIC_RELEASE);
  __atomic_store_n(&session, file.mapping, __ATOMIC_RELEASE);
  session_renew_clocks();
}

void session_tell(void) {
  kin->session = (uintptr_t)session;
  kin->session_bytes = session->limit;
}

int session_open_for_reading(void) {
  char path[PATH_MAX];
  struct stat status;
  snprintf(path, sizeof path, "%s/session.mdl", session->directory);
  int found = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (found >= 0 && (fstat(found, &status) < 0 || status.st_dev != file.device || status.st_ino != file.inode)) {
    close(found);
    return -1;
  }
  return found;
}

int session_open_for_writing(int found) {
  char path[64];
  if (fchmod(found, 0600) < 0) {
    return -1;
  }
  snprintf(path, sizeof path, "/proc/thread-self/fd/%d", found);
  int descriptor = open(path, O_RDWR | O_CLOEXEC);
  fchmod(found, SESSION_FILE_MODE);
  return descriptor;
}

static bool is_as_told(const struct mdl_header *header) {
  return __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == MDL_MAGIC && header->base == kin->session &&
         header->limit == kin->session_bytes && header->pid == options_readers_pid((pid_t)atomic_load(&kin->agent_pid));
}

struct mdl_header *session_join(int descriptor) {
  struct stat status;
  if (session) { /* inherited by fork */
    return (uintptr_t)session == kin->session ? session : NULL;
  }
  if (fstat(descriptor, &status) < 0 || (uint64_t)status.st_size < kin->session_bytes) {
    return NULL;
  }
  void *at = own_memory_map((void *)kin->session, kin->session_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                            descriptor, 0, INHERITED);
  if (at == MAP_FAILED) {
    return NULL;
  }
  if ((uintptr_t)at != kin->session || !is_as_told(at)) {
    own_memory_unmap(at, kin->session_bytes);
    return NULL;
  }
  file.device = status.st_dev;
  file.inode = status.st_ino;
  return at;
}

void session_abandon(void) {
  session_forget();
  apart_forget();
  file.directory[0] = 0;
  log_path[0] = 0;
}

void session_renew_now(void) {
  if (!is_agent_thread && atomic_load(&tsc_is_forbidden)) {
    return; /* at process end: the agent's thread has renewed it recently */
  }
  struct instant now = instant_now();
  __atomic_store_n(&session->now_tsc, now.tsc, __ATOMIC_RELAXED);
  __atomic_store_n(&session->now_mono_nanos, now.mono_nanos, __ATOMIC_RELAXED);
}

void session_renew_clocks(void) {
  session_renew_now();
  __atomic_store_n(&session->agent_cpu_nanos, agent_threads_cpu_nanos(), __ATOMIC_RELAXED);
  uint32_t unprobed = kin ? atomic_load(&kin->unprobed) : 0;
  if (unprobed > session->processes_unprobed) { /* a process that has forgotten its kin knows fewer */
    __atomic_store_n(&session->processes_unprobed, unprobed, __ATOMIC_RELAXED);
  }
}

/* Does not wait for Java: everything recorded is in the file. */
void session_ended(int status) {
  uint64_t unset = 0;
  session->exit_status = status & 0xff;
  session_renew_clocks();
  __atomic_compare_exchange_n(&session->end_real_nanos, &unset, clock_nanos(CLOCK_REALTIME), false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  uint32_t state = __atomic_load_n(&session->state, __ATOMIC_RELAXED);
  if (state != MDL_AGENT_DEAD) {
    __atomic_store_n(&session->state, MDL_ENDED, __ATOMIC_RELEASE);
  }
}

void session_left(void) {
  session_executes(true);
  __atomic_store_n(&session->state, MDL_ENDED, __ATOMIC_RELEASE);
}

void session_executes(bool does) {
  uint64_t unset = 0;
  if (!does) {
    __atomic_store_n(&session->end_real_nanos, 0, __ATOMIC_RELAXED);
    return;
  }
  session_renew_clocks();
  __atomic_compare_exchange_n(&session->end_real_nanos, &unset, clock_nanos(CLOCK_REALTIME), false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}
