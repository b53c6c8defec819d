/* The end of the process. */
#ifndef MDL_EXIT_H
#define MDL_EXIT_H

/* Starts to record the end of the process. */
void exit_start(void);

/* With MDL_KERNEL_EVENTS, when the agent is ready: the agent reads the last events before the process ends. */
void exit_looks_first(void);

/* On an agent thread: ends the process if no application thread is left. */
void exit_with_application(void);

#endif
