/* Attaches the agent to a running process. */
#ifndef MDL_ATTACH_H
#define MDL_ATTACH_H

/* Results of mdl_attach(). `mdl attach` relies on these numbers. */
enum attach_result { ATTACHED, ATTACHED_BEFORE, ATTACH_OF_GO, ATTACH_OF_SECURE };

/*
 * Starts the agent. The injector calls it on a thread that it has created in this process. *
 * * environment: variables NAME=value, one per line, as the constructor reads them (session/options.h)
 *
 */
int mdl_attach(const char *environment);

#endif
