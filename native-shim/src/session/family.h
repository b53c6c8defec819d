/* The processes of a session, and the reuse of blocks and records of ended processes. */
#ifndef MDL_FAMILY_H
#define MDL_FAMILY_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

extern struct mdl_process *family_self; /* NULL if there is no record left */
struct mdl_process *family_newest(void);
static inline struct mdl_process *family_before(const struct mdl_process *process) { return (struct mdl_process *)process->next; }

/* In the process that has the agent, on a thread that lives as long as the process. */
void family_begin(void);
bool family_has_agent(void);
/* Whether other processes than the agent's live. */
bool family_has_children(void);
/* In another process: whether the agent's process has ended. */
bool family_agent_is_gone(void);
/* Before a fork, on the thread that forks. */
void family_forks(void);
void family_forked(pid_t parent);
/* As family_forked(), with the time of the fork, and on a thread that does not live as long as the process: main becomes
 * the leader at its first probe. */
void family_joined(pid_t parent, uint64_t started_nanos);
void family_lead(void);
/* The calling thread ends, but its process goes on. */
void family_leader_ends(void);
void family_leave(int status);
/* This process has left the shared memory, which is at distance `shared`. The family treats it as killed, unless it is counted
 * by its own file (session/apart.h). */
void family_goes_apart(int64_t shared, bool counted);
/* By the agent: a counted process that has gone apart has ended. Its blocks and record are treated as those of a killed
 * process. */
void family_is_gone(struct mdl_process *process);
/* This process leaves the session and is about to begin its own. */
void family_begins_anew(void);
/* This process is about to execute another program, or has failed to. */
void family_executes(bool does);
/* Also true if it has executed another program. */
bool process_has_ended(const struct mdl_process *process);
/* Detects processes that ended without family_leave(). */
void family_sweep(void);
/* CPU time of forked processes. */
uint64_t family_cpu_nanos(void);

#endif
