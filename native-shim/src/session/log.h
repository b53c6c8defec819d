/* The session's log, agent.log in its directory. */
#ifndef MDL_LOG_H
#define MDL_LOG_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

extern char log_path[PATH_MAX];

/* One line from strings, the last of them NULL. Lines wait until log_open(). Async-signal-safe. */
void log_line(const char *part, ...) __attribute__((sentinel));
void log_open(const char *directory);

struct decimal {
  char text[24];
};
struct decimal decimal(int64_t value);

/* Without a look at the environment, which libc's gmtime_r() searches for the time zone. For times since 1970. */
struct tm utc_of(time_t seconds);

#endif
