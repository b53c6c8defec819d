/*
 * Facts about the target, gathered from /proc and its libc's file before any of its threads is stopped.
 */
#ifndef MDL_TARGET_H
#define MDL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct range {
  uint64_t start, end;
};

/* Addresses in the target. */
struct target {
  pid_t pid;
  int memory;                /* /proc/PID/mem */
  struct range program;      /* executable segment of the program's file */
  bool program_has_allocator; /* the program defines malloc */
  uint64_t hole;             /* start of HOLE_BYTES free bytes */
  uint64_t call_and_return;  /* syscall; ret */
  uint64_t signal_return;    /* mov $SYS_rt_sigreturn,%rax; syscall: the address that signal handlers return to */
  uint64_t pthread_create, pthread_detach, dlopen, dlsym, dlerror;
};

enum { HOLE_BYTES = 16 * 4096 };

/* Fills in `target`. NULL, or the reason why the process cannot be attached to. */
const char *target_read(struct target *target, pid_t pid);

/* The mapping that contains `address`: false if there is none. */
bool target_mapping(const struct target *target, uint64_t address, struct range *mapping);

/* All mappings, in order; their number, at most `capacity`. */
size_t target_mappings(const struct target *target, struct range *mappings, size_t capacity);

bool target_get(const struct target *target, uint64_t address, void *to, size_t bytes);
bool target_put(const struct target *target, uint64_t address, const void *from, size_t bytes);

/* The text of a file of /proc/PID, cut at `capacity`; "" if it cannot be read. */
void target_text(pid_t pid, const char *name, char *text, size_t capacity);

#endif
