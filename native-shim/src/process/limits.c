/*
 * Limits of memory and CPU time. The kernel counts the agent's use with the program's: gigabytes of address space, nearly
 * all of it only reserved, and the start-up time of the JVM. So when the program sets a limit, the kernel gets a limit that
 * is larger by the agent's use, and getrlimit() returns the program's value. Other limits concern resources that the agent
 * does not use (descriptors, locks, messages), or are passed on unchanged.
 *
 * An executed program inherits the limit that the program has set. Its hard limit stays the larger one, because it could not
 * be raised again if the exec fails.
 *
 * Only in the process that starts the agent, and only while the agent may start or runs. Forked processes have only the
 * memory that they share with it.
 */
#include "process/limits.h"

#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/memory_locks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Memory that the agent may still map: libc's heaps for its threads, metadata of Java classes. Before it starts, all of
 * its memory in a large program. */
static const uint64_t AGENT_GROWS = 256ULL << 20, AGENT_SPACE = 5ULL << 30, AGENT_DATA = 1ULL << 30;

/* In percent of the program's CPU time, plus seconds of start-up on a slow machine. */
enum { AGENT_CPU = 5, AGENT_CPU_SECONDS = 3 };

enum { SPACE, DATA, CPU, LIMITS };

/* The program's limit, and the kernel's. */
static struct asked {
  struct rlimit by_program, by_us;
} limits[LIMITS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct asked *asked_of(int resource) {
  switch (resource) {
    case RLIMIT_AS: return &limits[SPACE];
    case RLIMIT_DATA: return &limits[DATA];
    case RLIMIT_CPU: return &limits[CPU];
    default: return NULL;
  }
}

static bool is_same(const struct rlimit *a, const struct rlimit *b) {
  return a->rlim_cur == b->rlim_cur && a->rlim_max == b->rlim_max;
}

static bool is_set(const struct asked *asked) { return asked->by_us.rlim_max != 0; }

static rlim_t larger(rlim_t limit, uint64_t share) { return limit > RLIM_INFINITY - 1 - share ? limit : limit + share; }

static pid_t started; /* the process that started the agent */

__attribute__((constructor)) static void note_start(void) { started = getpid(); }

/* A vfork child has its parent's memory, but its own limits. */
static bool has_agent(void) {
  return started == process_pid && !is_agent_thread && !process_is_confined && getpid() == started &&
         atomic_load(&agent_threads) > 0;
}

static int get(pid_t process, int resource, struct rlimit *limit) {
  return (int)raw_syscall(SYS_prlimit64, process, resource, NULL, limit);
}

static int set(pid_t process, int resource, const struct rlimit *limit) {
  return (int)raw_syscall(SYS_prlimit64, process, resource, limit, NULL);
}

/* The program's limit, unless it was changed by other means. */
static void tell(int resource, struct rlimit *limit) {
  const struct asked *asked = asked_of(resource);
  if (asked && is_set(asked) && is_same(limit, &asked->by_us)) {
    *limit = asked->by_program;
  }
}

/* The agent's use, now and later. */
static uint64_t agents_share(int resource, const struct rlimit *limit) {
  if (resource == RLIMIT_CPU) {
    uint64_t later = limit->rlim_cur == RLIM_INFINITY ? 0 : limit->rlim_cur * AGENT_CPU / 100;
    return agent_threads_cpu_nanos() / 1000000000u + AGENT_CPU_SECONDS + later;
  }
  struct agent_memory memory = memory_of_agent();
  uint64_t bytes = (resource == RLIMIT_AS ? memory.all : memory.anonymous) + AGENT_GROWS;
  uint64_t at_least = resource == RLIMIT_AS ? AGENT_SPACE : AGENT_DATA;
  return bytes > at_least ? bytes : at_least;
}

static int set_larger(int resource, const struct rlimit *limit, struct asked *asked) {
  uint64_t share = agents_share(resource, limit);
  struct rlimit now, more = {larger(limit->rlim_cur, share), larger(limit->rlim_max, share)};
  if (get(0, resource, &now) != 0 || limit->rlim_cur > limit->rlim_max) {
    return set(0, resource, limit);
  }
  struct rlimit shown = now;
  tell(resource, &shown);
  if (limit->rlim_max <= shown.rlim_max && more.rlim_max > now.rlim_max) {
    more.rlim_max = now.rlim_max; /* needs no privilege, because the hard limit does not rise */
    more.rlim_cur = more.rlim_cur < more.rlim_max ? more.rlim_cur : more.rlim_max;
  }
  if (set(0, resource, &more) != 0) {
    return -1;
  }
  *asked = (struct asked){*limit, more};
  return 0;
}

static int change(pid_t process, int resource, const struct rlimit *limit) {
  struct asked *asked = asked_of(resource);
  bool own = process == 0 || process == getpid();
  if (!asked || !own || !limit || !has_agent()) {
    return set(process, resource, limit);
  }
  int error = errno;
  pthread_mutex_lock(&lock);
  int result = set_larger(resource, limit, asked);
  pthread_mutex_unlock(&lock);
  errno = result == 0 ? error : errno;
  return result;
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  return is_agent_thread ? 0 : change(0, (int)resource, limit);
}

EXPORT int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
  int result = get(0, (int)resource, limit);
  if (result == 0 && !is_agent_thread) {
    tell((int)resource, limit);
  }
  return result;
}

EXPORT int prlimit(pid_t process, enum __rlimit_resource resource, const struct rlimit *limit, struct rlimit *old) {
  bool own = !is_agent_thread && asked_of((int)resource) && (process == 0 || process == getpid());
  if (!own) {
    return (int)raw_syscall(SYS_prlimit64, process, resource, limit, old);
  }
  struct rlimit before;
  if ((old && getrlimit(resource, &before) != 0) || (limit && change(0, (int)resource, limit) != 0)) {
    return -1;
  }
  if (old) {
    *old = before;
  }
  return 0;
}

void limits_execute(bool begins) {
  static const int resources[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU};
  int error = errno;
  for (int i = 0; i < LIMITS && !process_is_confined; i++) {
    const struct asked *asked = asked_of(resources[i]);
    struct rlimit own = {asked->by_program.rlim_cur, asked->by_us.rlim_max}, now;
    if (is_set(asked) && get(0, resources[i], &now) == 0 && is_same(&now, begins ? &asked->by_us : &own)) {
      set(0, resources[i], begins ? &own : &asked->by_us);
    }
  }
  errno = error;
}

_Static_assert(sizeof(struct rlimit64) == sizeof(struct rlimit), "the same functions on this architecture");

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  return setrlimit(resource, (const struct rlimit *)limit);
}

EXPORT int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit) {
  return getrlimit(resource, (struct rlimit *)limit);
}

EXPORT int prlimit64(pid_t process, enum __rlimit_resource resource, const struct rlimit64 *limit, struct rlimit64 *old) {
  return prlimit(process, resource, (const struct rlimit *)limit, (struct rlimit *)old);
}
