/*
 * To its session, a process that executes another program has ended. This is noted before the call: in its record, and, if
 * it has the agent, in the session, which ends there. If the call fails, the notes are reverted.
 *
 * A 32-bit program cannot load the library, and its dynamic linker would complain on stderr. It gets an environment whose
 * LD_PRELOAD does not name the library; 32-bit programs rarely execute 64-bit ones.
 *
 * Everything here uses the caller's stack only, because the caller may be a vfork child in its parent's memory.
 */
#include "os/attributes.h"
#include "os/next.h"
#include "os/self.h"
#include "process/limits.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/log.h"
#include "session/session.h"

#include <alloca.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char variable[] = "LD_PRELOAD=", library[] = "/libmdlagent.so", separators[] = " :";

static int find_preload(char *const environment[], int *count) {
  int found = -1;
  for (*count = 0; environment && environment[*count]; ++*count) {
    if (strncmp(environment[*count], variable, sizeof variable - 1) == 0 && strstr(environment[*count], library)) {
      found = *count;
    }
  }
  return found;
}

/* A server that starts programs with an environment of its own making. Logged once. */
static void tell_unless_preloaded(struct mdl_header *header, const char *path, char *const environment[]) {
  int count;
  if (!process_was_attached && find_preload(environment, &count) < 0 &&
      !(__atomic_fetch_or(&header->flags, MDL_UNPRELOADED, __ATOMIC_RELAXED) & MDL_UNPRELOADED)) {
    log_line(path, " is executed without LD_PRELOAD in its environment: the agent does not see it, nor others like it", NULL);
  }
}

/* A server whose master executes itself again after forking its workers, and which had probes before. Logged once. */
static void tell_of_workers(struct mdl_header *header, const char *path) {
  static _Atomic bool told;
  bool has_workers = atomic_load(&kin_has_probes) && __atomic_load_n(&header->children, __ATOMIC_RELAXED) != 0;
  if (has_workers && !atomic_exchange(&told, true)) {
    log_line(path, " is executed by the process with the agent: what it has forked goes on without probes; started without "
             "waiting (--no-wait), a worker that is forked at once gets an agent of its own", NULL);
  }
}

static bool execute_begins(const char *path, char *const environment[]) {
  struct mdl_header *header = session; /* a starting agent may clear it */
  if (!header || is_agent_thread || process_is_confined || !process_pid || getpid() != process_pid) {
    return false;
  }
  tell_unless_preloaded(header, path, environment);
  family_executes(true);
  if (family_has_agent()) {
    tell_of_workers(header, path);
    session_executes(true);
  }
  return true;
}

static void execute_failed(void) {
  int error = errno;
  family_executes(false);
  if (family_has_agent()) {
    session_executes(false);
  }
  errno = error;
}

/* ---- 32-bit programs */

static bool is_of_32_bits(const char *path) {
  int error = errno;
  unsigned char start[EI_CLASS + 1] = {0};
  int file = process_is_confined ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file >= 0) {
    if (read(file, start, sizeof start) < 0) {
      start[0] = 0;
    }
    close(file);
  }
  errno = error;
  return memcmp(start, ELFMAG, SELFMAG) == 0 && start[EI_CLASS] == ELFCLASS32;
}

static bool is_executable(const char *path) {
  struct stat status;
  return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

enum { FOUND_BYTES = PATH_MAX + NAME_MAX + 2 };

/* Stores the path at which libc finds the file in PATH in `found`; "" if there is none. */
static const char *path_of(const char *file, char found[FOUND_BYTES]) {
  int error = errno;
  size_t name = strlen(file);
  const char *at = strchr(file, '/') || process_is_confined ? NULL : next()->getenv("PATH");
  *found = 0;
  while (at) {
    size_t length = strcspn(at, ":");
    if (length < PATH_MAX && name <= NAME_MAX) {
      memcpy(found, at, length);
      found[length] = '/';
      strcpy(found + length + (length != 0), file); /* an empty entry is the current directory */
      if (is_executable(found)) {
        break;
      }
      *found = 0;
    }
    at = at[length] ? at + length + 1 : NULL;
  }
  errno = error;
  return strchr(file, '/') ? file : found;
}

static bool ends_with_library(const char *entry, size_t length) {
  size_t name = sizeof library - 1;
  return length >= name && memcmp(entry + length - name, library, name) == 0;
}

/* `to` has room for all of `from`. */
static void copy_others(const char *from, char *to) {
  strcpy(to, variable);
  to += sizeof variable - 1;
  const char *first = to;
  for (from += sizeof variable - 1; *from;) {
    size_t length = strcspn(from, separators);
    if (length && !ends_with_library(from, length)) {
      if (to != first) {
        *to++ = ':';
      }
      memcpy(to, from, length);
      to += length;
    }
    from += length;
    from += strspn(from, separators);
  }
  *to = 0;
}

/* The environment for the program at `path`: the given one, or a changed copy on the caller's stack. */
#define ENVIRONMENT_OF(name, path, given)                                              \
  char *const *name = given;                                                           \
  int name##_count, name##_at = find_preload(given, &name##_count);                    \
  if (name##_at >= 0 && is_of_32_bits(path)) {                                         \
    char **copy = alloca(((size_t)name##_count + 1) * sizeof *copy);                   \
    memcpy(copy, name, ((size_t)name##_count + 1) * sizeof *copy);                     \
    char *text = alloca(strlen(copy[name##_at]) + 1);                                  \
    copy_others(copy[name##_at], text);                                                \
    copy[name##_at] = text;                                                            \
    name = copy;                                                                       \
  }

/* ---- libc's functions */

#define EXECUTE(path, environment, call) \
  bool noted = execute_begins(path, environment); \
  limits_execute(true);                 \
  int result = next()->call;            \
  limits_execute(false);                \
  if (noted) {                          \
    execute_failed();                   \
  }                                     \
  return result

EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  ENVIRONMENT_OF(own, path, environment);
  EXECUTE(path, own, execve(path, arguments, own));
}

EXPORT int execv(const char *path, char *const arguments[]) { return execve(path, arguments, environ); }

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[]) {
  ENVIRONMENT_OF(own, path_of(file, alloca(FOUND_BYTES)), environment);
  EXECUTE(file, own, execvpe(file, arguments, own));
}

EXPORT int execvp(const char *file, char *const arguments[]) { return execvpe(file, arguments, environ); }

EXPORT int fexecve(int file, char *const arguments[], char *const environment[]) {
  EXECUTE("a file", environment, fexecve(file, arguments, environment));
}

/* The arguments after `first`, as an array on the caller's stack; advances `list` past their end. */
#define ARGUMENTS(name, first)                                                          \
  va_list list;                                                                         \
  size_t name##_count = 1;                                                              \
  va_start(list, first);                                                                \
  while (va_arg(list, const char *)) {                                                  \
    name##_count++;                                                                     \
  }                                                                                     \
  va_end(list);                                                                         \
  char **name = alloca((name##_count + 1) * sizeof *name);                              \
  name[0] = (char *)(uintptr_t)first;                                                   \
  va_start(list, first);                                                                \
  for (size_t i = 1; i <= name##_count; i++) {                                          \
    name[i] = va_arg(list, char *);                                                     \
  }

EXPORT int execl(const char *path, const char *first, ...) {
  ARGUMENTS(arguments, first);
  va_end(list);
  return execve(path, arguments, environ);
}

EXPORT int execlp(const char *file, const char *first, ...) {
  ARGUMENTS(arguments, first);
  va_end(list);
  return execvpe(file, arguments, environ);
}

EXPORT int execle(const char *path, const char *first, ...) {
  ARGUMENTS(arguments, first);
  char *const *environment = va_arg(list, char *const *);
  va_end(list);
  return execve(path, arguments, environment);
}

EXPORT int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  ENVIRONMENT_OF(own, path, environment);
  return next()->posix_spawn(child, path, actions, attributes, arguments, own);
}

EXPORT int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  ENVIRONMENT_OF(own, path_of(file, alloca(FOUND_BYTES)), environment);
  return next()->posix_spawnp(child, file, actions, attributes, arguments, own);
}
