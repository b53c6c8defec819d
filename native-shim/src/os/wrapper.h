/*
 * Wrappers are programs such as timeout, nice and a container's init: they execute another program in their place, or as
 * their only child, and wait for it. The user wants to profile the other program.
 *
 * A wrapper is detected by its behaviour: it has had exactly one child, and its main thread waits for that child. The two
 * processes see each other only through /proc, so an agent announces itself there by the name of its first thread.
 */
#ifndef MDL_WRAPPER_H
#define MDL_WRAPPER_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls `start`, which starts a thread. The thread bears the agent's name from its creation on. */
int wrapper_show_thread(int (*start)(void));
/* Gives the calling thread that name; removes it. */
void wrapper_show_agent(void);
void wrapper_hide_agent(void);
/* Whether the process has a thread of that name. */
bool wrapper_has_agent(pid_t process);
/* The thread of that name in a process, 0 if there is none. */
pid_t wrapper_agent_of(pid_t process);
/* The only child that the process has ever had; 0 if it has had none or several. */
pid_t wrapper_only_child(pid_t process);
/* Whether the process's main thread waits for a child or a signal. */
bool wrapper_waits(pid_t process);
/* Whether the process has executed another program since `thread` announced its agent: it then announces another. */
bool wrapper_has_executed(pid_t process, int thread);
/* The outermost of the nested wrappers that have executed this process. */
pid_t wrapper_outermost(void);

#endif
