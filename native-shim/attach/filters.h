/*
 * Seccomp filters of the target's threads, and whether the agent can live with them.
 *
 * A filter is evaluated for each system call number with unknown arguments, so the result covers all arguments. A filter
 * that may end the process, or raise SIGSYS in it, for any 64-bit call is refused, because the JVM's calls are not a fixed
 * list. Errors are no reason, except for calls that the agent cannot do without.
 */
#ifndef MDL_FILTERS_H
#define MDL_FILTERS_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  FILTERS_MAX = 64,
  FILTER_INSTRUCTIONS_MAX = 32768, /* the kernel's limit for all filters of a thread together */
};

struct filters {
  size_t count;
  size_t start[FILTERS_MAX + 1]; /* filter i: code[start[i]] to code[start[i + 1]] */
  struct sock_filter code[FILTER_INSTRUCTIONS_MAX];
};

/* The filters of a stopped thread: NULL, or why they cannot be read. */
const char *filters_read(pid_t thread, struct filters *filters);

/* What filters may do with a call, by its arguments: ends the process or raises SIGSYS, if FILTER_HARMS. */
enum filter_effect { FILTER_ALLOWS = 1, FILTER_FAILS = 2, FILTER_HARMS = 4 };

/* The set of effects on calls with this number. */
unsigned filters_effects(const struct filters *filters, uint32_t number);

/* NULL, or why the agent must not be brought into a process whose thread has these filters. Valid until the next call. */
const char *filters_objection(const struct filters *filters);

#endif
