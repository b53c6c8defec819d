/* The session: what it is called, when it was, how it ends. Its memory: memory.h. */
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

/* The wrapper that has executed this program to stand in for it (agent/stand_in.h); else 0. */
extern pid_t session_wrapper;

/* Its directory, log and file, which nobody else sees yet: NULL, or why there is none. */
const char *session_create(const struct instant *start);
/* There is none, for this reason: a line of the log that all such programs of a user have. */
void session_tell_why_not(const char *why, const char *what);
/* From now on there is a session. */
void session_publish(void);
/* Where it is, for relatives (session/kin.h); in one of them, by its descriptor there: NULL when its place is taken. It is theirs
 * when it is published. */
void session_tell(void);
struct mdl_header *session_join(int descriptor);
/* Its file: a descriptor, or -1; by this one for writing, which it has no mode for. */
int session_open_for_reading(void);
int session_open_for_writing(int found);
/* In a forked child that begins one of its own. */
void session_abandon(void);
void session_renew_clocks(void);
/* Only what it costs no system call to know. */
void session_renew_now(void);
void session_ended(int status);
/* Its process is about to execute another program, or has failed to. */
void session_executes(bool does);

#endif
