/* The control socket: requests from the command line. */
#ifndef MDL_CONTROL_H
#define MDL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* A variable so that tests can change it. */
extern uint64_t control_patience_nanos;

/* In the agent's process, once the agent has its own descriptors. */
void control_start(void);
/* Removes the socket, if its path still names it. */
void control_end(void);
bool control_has_request(void);
/* On any other thread: until no request is being served, for control_patience_nanos at most. */
void control_await_answer(void);
/* See api.h. */
int64_t control_take(char *out);
void control_answer(const char *text, int64_t length);

#endif
