/* The agent comes into a process that runs already. */
#ifndef MDL_ATTACH_H
#define MDL_ATTACH_H

/* What mdl_attach() returns. `mdl attach` knows these numbers. */
enum attach_result { ATTACHED, ATTACHED_BEFORE, ATTACH_OF_GO, ATTACH_OF_SECURE };

/* Starts the agent, on a thread that somebody outside has made the process create for this.
 *
 * environment: variables NAME=value as the constructor finds them (session/options.h), a line each
 */
int mdl_attach(const char *environment);

#endif
