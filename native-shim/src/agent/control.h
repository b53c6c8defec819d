/* The control socket: requests of the command line. */
#ifndef MDL_CONTROL_H
#define MDL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* A variable for the tests' sake. */
extern uint64_t control_patience_nanos;

/* In the process that has the agent, which has descriptors of its own. */
void control_start(void);
/* Removes the socket, if it is still what has its path. */
void control_end(void);
bool control_has_request(void);
/* See api.h. */
int64_t control_take(char *out);
void control_answer(const char *text, int64_t length);

#endif
