/* The session's log: agent.log in the session's directory. */
#ifndef MDL_LOG_H
#define MDL_LOG_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

extern char log_path[PATH_MAX];

/* Logs one line, made of strings up to a NULL. Lines are buffered until log_open(). Async-signal-safe. */
void log_line(const char *part, ...) __attribute__((sentinel));
void log_open(const char *directory);

struct decimal {
  char text[24];
};
struct decimal decimal(int64_t value);

/* Unlike libc's gmtime_r(), does not read the environment (TZ). For times since 1970. */
struct tm utc_of(time_t seconds);

#endif
