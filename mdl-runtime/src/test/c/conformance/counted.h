/* An independent count: the functions of a program count their own calls. At its end each image appends a line for
 * each function, "calls name", to the file that COUNTS names. */
#ifndef COUNTED_H
#define COUNTED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __clang__
#define PROBED __attribute__((noinline))
#define UNPROBED __attribute__((no_instrument_function, patchable_function_entry(0, 0), xray_never_instrument))
#else
#ifdef PATCHABLE
#define PROBED __attribute__((noinline, noclone, patchable_function_entry(PATCHABLE)))
#else
#define PROBED __attribute__((noinline, noclone))
#endif
#define UNPROBED __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
#endif

struct counted {
  const char *name;
  unsigned long calls;
};

/* First in a function. One instruction that changes no register, so that it hides nothing a probe does. */
#define COUNTED_AS(text)                                                              \
  do {                                                                                \
    static struct counted here __attribute__((section("counted"), used)) = {text, 0}; \
    __atomic_fetch_add(&here.calls, 1, __ATOMIC_RELAXED);                             \
  } while (0)
#define COUNTED COUNTED_AS(__func__)

/* The compiler knows nothing of this value any more. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

extern struct counted __start_counted[] __attribute__((visibility("hidden")));
extern struct counted __stop_counted[] __attribute__((visibility("hidden")));

static UNPROBED __attribute__((destructor)) void write_counts(void) {
  const char *path = getenv("COUNTS");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  for (struct counted *function = __start_counted; function < __stop_counted; function++) {
    dprintf(file, "%lu %s\n", function->calls, function->name);
  }
  close(file);
}

#endif
