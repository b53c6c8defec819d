/*
 * The program may lock all of its memory. The agent's memory must not be locked: it is gigabytes, nearly all of it only
 * reserved, and would count against the program's limit. So existing mappings are locked here one by one, except the
 * agent's. The kernel locks future mappings, and the agent unlocks its own (os/own_memory.h).
 *
 * The agent's mappings are: those that it has noted, malloc() arenas of its threads, files of its distribution, and
 * libraries loaded from there. Further libraries that these need count as the program's.
 */
#include "process/memory_locks.h"

#include "os/arenas.h"
#include "os/attributes.h"
#include "os/library.h"
#include "os/maps.h"
#include "os/next.h"
#include "os/own_memory.h"
#include "os/self.h"
#include "os/sys.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1u
#endif

enum { PAGE = 4096, LIBRARIES = 64 };

/* ---- whose memory it is */

/* The agent's libraries and their variables. */
struct libraries {
  size_t count;
  struct span spans[LIBRARIES];
};

/* Length of the distribution's directory, with a slash: libmdlagent.so is in its lib. */
static size_t home_length(void) {
  const char *slash = strrchr(library_directory, '/');
  return slash ? (size_t)(slash - library_directory) + 1 : 0;
}

static bool is_of_distribution(const char *path) {
  size_t length = home_length();
  return length > 1 && strncmp(path, library_directory, length) == 0;
}

static int add_library(struct dl_phdr_info *info, size_t size, void *pointer) {
  struct libraries *libraries = pointer;
  struct span span = {UINT64_MAX, 0};
  (void)size;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD) {
      uint64_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
      span.start = start < span.start ? start & -(uint64_t)PAGE : span.start;
      span.end = end > span.end ? (end + PAGE - 1) & -(uint64_t)PAGE : span.end;
    }
  }
  uint64_t here = (uintptr_t)&library_directory;
  bool is_own = (here >= span.start && here < span.end) || is_of_distribution(info->dlpi_name ? info->dlpi_name : "");
  if (is_own && libraries->count < LIBRARIES) {
    libraries->spans[libraries->count++] = span;
  }
  return 0;
}

static struct libraries own_libraries(void) {
  struct libraries libraries = {.count = 0};
  next()->dl_iterate_phdr(add_library, &libraries);
  return libraries;
}

/* The first part of a mapping, from `start` on, that is the program's. */
static struct span programs_part(const struct mapping *mapping, uint64_t start, const struct libraries *libraries) {
  if (is_of_distribution(maps_path(mapping))) {
    return (struct span){mapping->end, mapping->end};
  }
  struct span part = own_memory_gap(start, mapping->end);
  for (size_t i = 0; i < libraries->count; i++) {
    const struct span *own = &libraries->spans[i];
    if (own->start <= part.start && part.start < own->end) {
      part.start = own->end < part.end ? own->end : part.end;
      return part.start < part.end ? programs_part(mapping, part.start, libraries) : part;
    }
    part.end = own->start > part.start && own->start < part.end ? own->start : part.end;
  }
  return part;
}

typedef void (*visitor)(struct span part, const struct mapping *mapping, void *context);

/* The gaps between the program's parts are the agent's. */
static bool visit(visitor programs, visitor agents, void *context) {
  struct maps maps;
  struct mapping mapping;
  struct libraries libraries = own_libraries();
  arenas_look();
  if (!maps_open(&maps)) {
    return false;
  }
  while (maps_next(&maps, &mapping) && !(mapping.start >> 63)) { /* the kernel's half */
    for (uint64_t at = mapping.start; at < mapping.end;) {
      struct span part = programs_part(&mapping, at, &libraries);
      if (agents && part.start > at) {
        agents((struct span){at, part.start}, &mapping, context);
      }
      if (programs && part.end > part.start) {
        programs(part, &mapping, context);
      }
      at = part.end;
    }
  }
  maps_close(&maps);
  return true;
}

/* ---- locks */

static void add_bytes(struct span part, const struct mapping *mapping, void *sum) {
  (void)mapping;
  *(uint64_t *)sum += part.end - part.start;
}

/* As mlockall() does, skips memory that cannot be locked. */
static void lock(struct span part, const struct mapping *mapping, void *flags) {
  (void)mapping;
  raw_syscall(SYS_mlock2, part.start, part.end - part.start, *(unsigned *)flags);
}

static void unlock(struct span part, const struct mapping *mapping, void *unused) {
  (void)mapping;
  (void)unused;
  raw_syscall(SYS_munlock, part.start, part.end - part.start);
}

/* The kernel checks the limit and capabilities before the addresses; this range is invalid, because it wraps around. */
static int error_beyond_limit(void) {
  errno = 0;
  raw_syscall(SYS_mlock, 16L * PAGE, -8L * PAGE);
  return errno;
}

/* mlockall() fails if the sum of all mappings exceeds the limit. */
static bool is_within_limit(void) {
  uint64_t bytes = 0;
  return error_beyond_limit() == EINVAL || !visit(add_bytes, NULL, &bytes) || bytes <= kernel_limit(RLIMIT_MEMLOCK);
}

static int lock_all(int flags) {
  unsigned kind = flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0;
  if (flags & MCL_CURRENT && !is_within_limit()) {
    errno = ENOMEM;
    return -1;
  }
  if (flags & MCL_FUTURE) {
    own_memory_future_locked(true);
    if (raw_syscall(SYS_mlockall, flags & ~MCL_CURRENT) != 0) {
      own_memory_future_locked(false);
      return -1;
    }
  } else if (own_memory_is_future_locked()) {
    raw_syscall(SYS_munlockall);
    own_memory_future_locked(false);
  }
  if (flags & MCL_CURRENT) {
    visit(lock, unlock, &kind);
  }
  return 0;
}

/* A vfork child has its parent's memory, and its locks are not inherited. */
static bool is_ours(void) { return process_pid && !is_agent_thread && getpid() == process_pid; }

int memory_lock_all(int flags) {
  int all = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
  bool valid = (flags & ~all) == 0 && (flags & (MCL_CURRENT | MCL_FUTURE));
  if (!is_ours() || !valid || error_beyond_limit() == EPERM || process_is_confined) {
    return (int)raw_syscall(SYS_mlockall, flags);
  }
  int error = errno;
  if (!library_directory[0]) {
    library_find_directory();
  }
  int result = lock_all(flags);
  errno = result == 0 ? error : errno;
  return result;
}

int memory_unlock_all(void) {
  int result = (int)raw_syscall(SYS_munlockall);
  if (result == 0 && is_ours()) {
    own_memory_future_locked(false);
  }
  return result;
}

void memory_unlock_own(void) {
  if (own_memory_is_future_locked()) {
    visit(NULL, unlock, NULL);
  }
}

static void add_of_agent(struct span part, const struct mapping *mapping, void *pointer) {
  struct agent_memory *memory = pointer;
  memory->all += part.end - part.start;
  memory->anonymous += *maps_path(mapping) ? 0 : part.end - part.start;
}

struct agent_memory memory_of_agent(void) {
  struct agent_memory memory = {0, 0};
  if (!library_directory[0]) {
    library_find_directory();
  }
  visit(NULL, add_of_agent, &memory);
  return memory;
}

EXPORT int mlockall(int flags) { return memory_lock_all(flags); }

EXPORT int munlockall(void) { return memory_unlock_all(); }
