/*
 * Global state of the application that the agent's threads must not change. The application's own calls are passed on by a
 * tail call, because libc may use the return address.
 */
#include "os/attributes.h"
#include "os/next.h"
#include "os/self.h"
#include "session/log.h"

#include <stdlib.h>

/* Destructors of the JVM's libraries would run while the JVM's threads still live. */
EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
  if (is_agent_thread) {
    return 0;
  }
  return next()->cxa_atexit(function, argument, library);
}

/* The application may change the environment at any time, without a lock. session/options.c copied what the agent needs
 * before main began. */
EXPORT char *getenv(const char *name) { return is_agent_thread ? NULL : next()->getenv(name); }

EXPORT char *secure_getenv(const char *name) { return is_agent_thread ? NULL : next()->secure_getenv(name); }

EXPORT char *setlocale(int category, const char *locale) {
  return next()->setlocale(category, is_agent_thread ? NULL : locale);
}

/* Java takes the encoding of file names from the locale, and the application may not have set one. (newlocale() for the
 * agent's threads would read the environment.) */
EXPORT char *nl_langinfo(nl_item item) {
  static char utf8[] = "UTF-8";
  return is_agent_thread && item == CODESET ? utf8 : next()->nl_langinfo(item);
}

/* libc reads the time zone from the environment, and caches it. */
EXPORT void tzset(void) {
  if (!is_agent_thread) {
    next()->tzset();
  }
}

EXPORT struct tm *localtime_r(const time_t *restrict seconds, struct tm *restrict result) {
  if (is_agent_thread) {
    *result = utc_of(*seconds);
    return result;
  }
  return next()->localtime_r(seconds, result);
}

EXPORT struct tm *gmtime_r(const time_t *restrict seconds, struct tm *restrict result) {
  return is_agent_thread ? localtime_r(seconds, result) : next()->gmtime_r(seconds, result);
}

/* Would write the application's buffers to the agent's descriptors. */
EXPORT int fflush(FILE *stream) {
  if (is_agent_thread && (stream == NULL || stream == stdout || stream == stderr)) {
    return 0;
  }
  return next()->fflush(stream);
}
