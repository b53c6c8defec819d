/*
 * Where the calling thread's own stack is. Asked once for a thread, in a probe: without malloc, which may be what is
 * probed; pthread_getattr_np uses it.
 */
#include "os/stack.h"

#include "os/self.h"
#include "os/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct mapping {
  uint64_t start, end;
};

/* A line of /proc/self/maps starts with them. */
static bool parse(const char *line, struct mapping *mapping) {
  uint64_t values[2] = {0};
  for (int i = 0; i < 2; i++, line++) {
    const char *first = line;
    for (; *line != (i == 0 ? '-' : ' '); line++) {
      unsigned char c = (unsigned char)*line;
      unsigned digit = c >= '0' && c <= '9' ? c - (unsigned)'0' : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10 : 16;
      if (digit == 16) {
        return false;
      }
      values[i] = values[i] << 4 | digit;
    }
    if (line == first) {
      return false;
    }
  }
  *mapping = (struct mapping){values[0], values[1]};
  return true;
}

/* The mapping that holds `address`, and the one below it. */
static bool find(uint64_t address, struct mapping *found, struct mapping *below) {
  char buffer[4096];
  size_t filled = 0;
  int file = (int)raw_syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  *below = (struct mapping){0, 0};
  bool done = false, is_found = false;
  while (!done) {
    long count = raw_syscall(SYS_read, file, buffer + filled, sizeof buffer - filled);
    if (count <= 0) {
      break;
    }
    filled += (size_t)count;
    char *line = buffer, *end;
    while (!done && (end = memchr(line, '\n', filled - (size_t)(line - buffer)))) {
      struct mapping mapping;
      if (!parse(line, &mapping)) {
        done = true;
      } else if (address < mapping.end) {
        *found = mapping;
        is_found = address >= mapping.start;
        done = true;
      } else {
        *below = mapping;
      }
      line = end + 1;
    }
    filled -= (size_t)(line - buffer);
    memmove(buffer, line, filled);
  }
  raw_syscall(SYS_close, file);
  return is_found;
}

extern void *__libc_stack_end __attribute__((weak)); /* os/glibc.h */

/* How large it may be. */
static uint64_t most_bytes(void) {
  struct rlimit limit;
  return self_stack_bytes ? self_stack_bytes : getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : 0;
}

static bool holds(const struct mapping *mapping, uint64_t address) {
  return address >= mapping->start && address < mapping->end;
}

struct stack stack_of_thread(void) {
  uint64_t here = (uintptr_t)__builtin_frame_address(0);
  uint64_t thread_pointer = (uintptr_t)__builtin_thread_pointer();
  uint64_t bytes = most_bytes();
  struct mapping mapping, below;
  if (find(here, &mapping, &below)) {
    if (thread_pointer > here && holds(&mapping, thread_pointer)) {
      /* Libc puts the thread's control block on top of the stack. Neighbours may be part of the mapping. */
      uint64_t low = thread_pointer > bytes ? thread_pointer - bytes : 0;
      return (struct stack){low > mapping.start ? low : mapping.start, thread_pointer};
    }
    if (holds(&mapping, (uintptr_t)__libc_stack_end)) {
      /* The first thread's grows, to its limit or to the mapping below. */
      uint64_t low = mapping.end > bytes ? mapping.end - bytes : 0;
      return (struct stack){low > below.end ? low : below.end, mapping.end};
    }
  }
  return (struct stack){here, here}; /* a coroutine's, a signal handler's: all calls are taken to run on such a one */
}
