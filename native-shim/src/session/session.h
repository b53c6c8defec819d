/* The session: its name, its times, its end. For its memory see memory.h. */
#ifndef MDL_SESSION_H
#define MDL_SESSION_H

#include "session/memory.h"

#include <sys/types.h>

/* A variable for the tests' sake. */
extern const char *session_last_resort;

struct instant {
  uint64_t tsc, mono_nanos, real_nanos;
};
struct instant instant_now(void);

/* The wrapper in whose place this program runs (agent/stand_in.h), or 0. */
extern pid_t session_wrapper;

/* Creates the session's directory, log and file, unpublished. NULL, or the reason of the failure. */
const char *session_create(const struct instant *start);
/* Logs why there is no session, in a log that all such programs of a user share. */
void session_tell_why_not(const char *why, const char *what);
/* Publishes the session. */
void session_publish(void);
/* Tells relatives where the session is (session/kin.h). A relative joins by its descriptor: NULL if the address is taken.
 * It must then publish the session. */
void session_tell(void);
struct mdl_header *session_join(int descriptor);
/* Opens the session file: a descriptor, or -1. Reopens `found` for writing, which the file's mode forbids. */
int session_open_for_reading(void);
int session_open_for_writing(int found);
/* In a forked child that begins its own session. */
void session_abandon(void);
void session_renew_clocks(void);
/* Only the clocks that cost no system call. */
void session_renew_now(void);
void session_ended(int status);
/* The agent has left for good, before the program's end. */
void session_left(void);
/* The process is about to execute another program, or has failed to. */
void session_executes(bool does);

#endif
