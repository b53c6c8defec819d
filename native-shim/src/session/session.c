/*
 * The session: a directory with a log, and the session file, which is memory that outlives the process.
 *
 * The file is a shared mapping of a sparse file, normally in /dev/shm, so that no store to it ever waits for a disk.
 * It grows by populating pages (MADV_POPULATE_WRITE), not through a descriptor: application threads grow it too, and
 * have none. A store to memory that allocate() has given out never faults for want of memory.
 */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct mdl_header *session;
/* Variables for the tests' sake. */
const char *session_memory_root = "/dev/shm";
const char *session_last_resort = "/tmp";

enum {
  PAGE = 4096,
  INITIAL = 4 << 20,
  STEP = 128 << 10,
  LIMIT = 256 << 20,
  /* Where the file cannot grow without a descriptor, all of it is taken at once. */
  LIMIT_WITHOUT_GROWTH = 32 << 20,
  /* The part of the file system in memory that all sessions of a user may take. */
  MEMORY_SHARE = 4,
};

/* Set when the memory behind the file has run out once: no system call for each call that finds no row. */
static _Atomic bool exhausted;

struct instant instant_now(void) {
  return (struct instant){
      .tsc = __rdtsc(),
      .mono_nanos = clock_nanos(CLOCK_MONOTONIC),
      .real_nanos = clock_nanos(CLOCK_REALTIME),
  };
}

/* ---- memory */

static bool populate(uint64_t from, uint64_t to) {
  int error = errno;
  bool done;
  do {
    errno = 0;
    done = madvise((void *)((uintptr_t)session + from), to - from, MADV_POPULATE_WRITE) == 0;
  } while (!done && errno == EINTR);
  errno = error;
  return done;
}

/*
 * Async-signal-safe and lock-free. Whoever needs bytes beyond arena_end populates from there to its own need, and
 * only then moves arena_end: so all bytes below arena_end are backed, whoever comes first.
 */
uint64_t session_allocate(uint64_t bytes) {
  struct mdl_header *header = session;
  if (!header || bytes == 0) {
    return 0;
  }
  uint64_t next = __atomic_load_n(&header->arena_next, __ATOMIC_RELAXED);
  uint64_t end;
  do {
    /* The order of the two tests keeps the rounding from overflowing. */
    if (bytes > header->limit - next || ((bytes + 63) & ~63ULL) > header->limit - next) {
      __atomic_fetch_add(&header->arena_refused, 1, __ATOMIC_RELAXED);
      return 0;
    }
    end = next + ((bytes + 63) & ~63ULL);
  } while (!__atomic_compare_exchange_n(&header->arena_next, &next, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  uint64_t backed = __atomic_load_n(&header->arena_end, __ATOMIC_ACQUIRE);
  if (end > backed) {
    uint64_t target = (end + STEP - 1) & ~(uint64_t)(STEP - 1);
    if (target > header->limit) {
      target = header->limit;
    }
    if (atomic_load_explicit(&exhausted, memory_order_relaxed) || !populate(backed, target)) {
      atomic_store_explicit(&exhausted, true, memory_order_relaxed);
      __atomic_fetch_add(&header->arena_refused, 1, __ATOMIC_RELAXED);
      return 0;
    }
    while (backed < target && !__atomic_compare_exchange_n(&header->arena_end, &backed, target, true,
                                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
  }
  return (uintptr_t)header + next;
}

uint64_t session_allocate_once(uint64_t *slot, uint64_t bytes) {
  uint64_t at = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!at) {
    uint64_t fresh = session_allocate(bytes);
    if (!fresh || __atomic_compare_exchange_n(slot, &at, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      return fresh;
    }
  }
  return at;
}

static bool can_populate(void) {
  void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  bool can = madvise(page, PAGE, MADV_POPULATE_WRITE) == 0;
  munmap(page, PAGE);
  return can;
}

/* ---- directories */

static char id[sizeof((struct mdl_header *)NULL)->id];
static char directory[sizeof((struct mdl_header *)NULL)->directory];

static int make_directories(const char *path) {
  char partial[sizeof directory];
  size_t length = strlen(path);
  if (length >= sizeof partial) {
    return -ENAMETOOLONG;
  }
  memcpy(partial, path, length + 1);
  for (size_t i = 1; i <= length; i++) {
    if (partial[i] == '/' || partial[i] == 0) {
      char end = partial[i];
      partial[i] = 0;
      if (mkdir(partial, 0700) < 0 && errno != EEXIST) {
        return -errno;
      }
      partial[i] = end;
    }
  }
  return access(path, W_OK | X_OK) == 0 ? 0 : -errno;
}

/* The user's own directory below `root`, where anybody may have put something of that name before. */
static int private_directory(const char *root, char *path, size_t capacity) {
  struct stat status;
  int length = snprintf(path, capacity, "%s/mdl-%u", root, geteuid());
  if (length < 0 || (size_t)length >= capacity) {
    return -ENAMETOOLONG;
  }
  if (mkdir(path, 0700) < 0 && errno != EEXIST) {
    return -errno;
  }
  int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return -errno;
  }
  int error = fstat(file, &status) < 0 ? -errno : 0;
  close(file);
  if (error == 0 && (status.st_uid != geteuid() || (status.st_mode & 077) != 0)) {
    error = -EPERM;
  }
  return error;
}

/*
 * -EDQUOT when the user's sessions have their share of the memory. Those of ended programs stay until mdl moves them,
 * and where nobody calls it, they must not take the memory from others.
 */
static int check_share(const char *memory_directory) {
  struct statvfs fs;
  DIR *entries = opendir(memory_directory);
  if (!entries) {
    return -errno;
  }
  uint64_t taken = 0;
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    struct stat status;
    if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
      taken += (uint64_t)status.st_blocks * 512;
    }
  }
  bool has_room = fstatvfs(dirfd(entries), &fs) == 0 && taken <= (uint64_t)fs.f_blocks * fs.f_frsize / MEMORY_SHARE;
  closedir(entries);
  return has_room ? 0 : -EDQUOT;
}

/* ---- the file */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* How much the file may grow to: the application shares the file system and the limits. */
static uint64_t limit_of(int file, bool growing) {
  uint64_t limit = growing ? LIMIT : LIMIT_WITHOUT_GROWTH;
  struct statvfs fs;
  if (fstatvfs(file, &fs) == 0) {
    limit = smaller(limit, (uint64_t)fs.f_bavail * fs.f_frsize / 2);
  }
  struct rlimit size;
  if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur != RLIM_INFINITY) {
    limit = smaller(limit, size.rlim_cur);
  }
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    limit = smaller(limit, space.rlim_cur / 16);
  }
  return limit & ~(uint64_t)(STEP - 1);
}

/* Backs the first bytes, sets the size, maps it: 0 or -errno. */
static int map_file(int file, struct mdl_header **mapping, uint64_t *limit, uint64_t *backed) {
  bool growing = can_populate();
  *limit = limit_of(file, growing);
  if (*limit < INITIAL) {
    return -ENOSPC;
  }
  *backed = growing ? INITIAL : *limit;
  if (fallocate(file, 0, 0, (off_t)*backed) < 0) {
    if (errno != EOPNOTSUPP) {
      return -errno;
    }
    char zeros[16384] = {0};
    for (uint64_t at = 0; at < *backed; at += sizeof zeros) {
      if (pwrite(file, zeros, sizeof zeros, (off_t)at) != (ssize_t)sizeof zeros) {
        return errno ? -errno : -ENOSPC;
      }
    }
  }
  for (;; *limit /= 2) {
    if (ftruncate(file, (off_t)*limit) < 0) {
      return -errno;
    }
    void *address = mmap(NULL, *limit, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (address != MAP_FAILED) {
      *mapping = address;
      return 0;
    }
    if (errno != ENOMEM || *limit / 2 < *backed) {
      return -errno;
    }
  }
}

static int create_at(const char *path, struct mdl_header **mapping, uint64_t *limit, uint64_t *backed) {
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    return -errno;
  }
  errno = 0;
  int error = map_file(file, mapping, limit, backed);
  close(file);
  if (error) {
    unlink(path);
  }
  return error;
}

static const char *error_name(int error) {
  const char *name = strerrorname_np(-error);
  return name ? name : "an unknown error";
}

/*
 * The session file of `where`: -EEXIST when it has one. The name session.mdl is taken first, by a link or O_EXCL: of
 * two processes that find the same directory empty one gets it, and whoever is killed meanwhile leaves no file without
 * a name.
 */
static int create_in(const char *where, struct mdl_header **mapping, uint64_t *limit, uint64_t *backed) {
  char link[PATH_MAX + 16], memory_directory[64], memory_file[PATH_MAX];
  snprintf(link, sizeof link, "%s/session.mdl", where);
  int error = private_directory(session_memory_root, memory_directory, sizeof memory_directory);
  if (!error) {
    error = check_share(memory_directory);
  }
  if (!error) {
    snprintf(memory_file, sizeof memory_file, "%s/%s.mdl", memory_directory, id);
    if (symlink(memory_file, link) < 0) {
      return -errno;
    }
    error = create_at(memory_file, mapping, limit, backed);
    if (!error) {
      return 0;
    }
    unlink(link);
  }
  log_line(session_memory_root, " cannot hold the session file (", error_name(error),
           "): it is in the session's directory, where stores to it may wait for a disk", NULL);
  return create_at(link, mapping, limit, backed);
}

static int create_in_or_below(const char *where, bool may_be_taken, struct mdl_header **mapping, uint64_t *limit,
                              uint64_t *backed) {
  int error = make_directories(where);
  if (!error) {
    strcpy(directory, where);
    error = create_in(directory, mapping, limit, backed);
  }
  if (error == -EEXIST && may_be_taken) {
    /* Another process of the same run has it. */
    char below[PATH_MAX];
    int length = snprintf(below, sizeof below, "%s/%s", where, id);
    if (length < 0 || (size_t)length >= sizeof below) {
      return -ENAMETOOLONG;
    }
    return create_in_or_below(below, false, mapping, limit, backed);
  }
  return error;
}

static void name_session(const char *program, const struct instant *start) {
  const char *slash = strrchr(program, '/');
  const char *name = slash ? slash + 1 : program;
  time_t seconds = (time_t)(start->real_nanos / 1000000000u);
  struct tm utc = utc_of(seconds);
  char when[32];
  strftime(when, sizeof when, "%Y%m%dT%H%M%S", &utc);
  snprintf(id, sizeof id, "%.200s-%d-%s", name, process_pid, when);
  for (char *c = id; *c; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      *c = '_';
    }
  }
}

static void read_program(char *program, size_t capacity) {
  static const char deleted[] = " (deleted)";
  /* Not /proc/self: that is the first thread, which may have ended. */
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

const char *session_create(const struct instant *start) {
  static char reason[128];
  char program[1024], path[PATH_MAX];
  struct mdl_header *header = NULL;
  uint64_t limit = 0, backed = 0;
  read_program(program, sizeof program);
  name_session(program, start);

  int error;
  bool given = options.session[0] != 0;
  if (given) {
    snprintf(path, sizeof path, "%s", options.session);
    error = create_in_or_below(path, true, &header, &limit, &backed);
  } else if (options.state_home[0] &&
             snprintf(path, sizeof path, "%s/mdl/sessions/%s", options.state_home, id) < (int)sizeof path) {
    error = create_in_or_below(path, false, &header, &limit, &backed);
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
      error = create_in_or_below(path, false, &header, &limit, &backed);
    }
  }
  if (error) {
    snprintf(reason, sizeof reason, "there is no session file: %s", error_name(error));
    if (error == -ENOSPC && directory[0]) {
      log_open(directory);
    }
    return reason;
  }

  log_open(directory);
  header->version = MDL_VERSION;
  header->header_size = sizeof *header;
  header->base = (uintptr_t)header;
  header->limit = limit;
  header->arena_next = sizeof *header;
  header->arena_end = backed;
  header->pid = (uint32_t)process_pid;
  header->state = MDL_STARTING;
  header->start_tsc = start->tsc;
  header->start_mono_nanos = start->mono_nanos;
  header->start_real_nanos = start->real_nanos;
  header->exit_status = -1;
  memcpy(header->program, program, sizeof header->program);
  memcpy(header->id, id, sizeof header->id);
  memcpy(header->directory, directory, sizeof header->directory);
  code_start();
  __atomic_store_n(&header->magic, MDL_MAGIC, __ATOMIC_RELEASE);
  __atomic_store_n(&session, header, __ATOMIC_RELEASE);
  session_renew_clocks();
  family_begin();
  return NULL;
}

void session_abandon(void) {
  if (session) {
    munmap(session, session->limit);
    session = NULL;
  }
  family_self = NULL;
  exhausted = false;
  directory[0] = 0;
  log_path[0] = 0;
}

void session_renew_now(void) {
  struct instant now = instant_now();
  __atomic_store_n(&session->now_tsc, now.tsc, __ATOMIC_RELAXED);
  __atomic_store_n(&session->now_mono_nanos, now.mono_nanos, __ATOMIC_RELAXED);
}

void session_renew_clocks(void) {
  session_renew_now();
  __atomic_store_n(&session->agent_cpu_nanos, process_agent_cpu_nanos(), __ATOMIC_RELAXED);
}

/* Nothing waits for Java: all that probes have recorded is in the file. */
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
