/* The processes of a session, and what becomes of what those held that have ended. */
#ifndef MDL_FAMILY_H
#define MDL_FAMILY_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

extern struct mdl_process *family_self; /* NULL when there is no record left for it */
struct mdl_process *family_newest(void);
static inline struct mdl_process *family_before(const struct mdl_process *process) { return (struct mdl_process *)process->next; }

/* In the process that has the agent, by a thread that lives as long as it. */
void family_begin(void);
bool family_has_agent(void);
/* Whether others than the process that has the agent live. */
bool family_has_children(void);
/* In another one: whether that process has ended. */
bool family_agent_is_gone(void);
void family_forked(pid_t parent);
/* As family_forked(), by when it was, and by a thread that does not live as long as the process: main is the leader from its first
 * probe on. */
void family_joined(pid_t parent, uint64_t started_nanos);
void family_lead(void);
/* The calling thread ends and others of its process do not. */
void family_leader_ends(void);
void family_leave(int status);
/* This process has left the memory that is so far from here, and goes on. If it is not counted from now on (session/apart.h), it is to
 * the others as if it had been killed. */
void family_goes_apart(int64_t shared, bool counted);
/* By the agent: a counted process of that kind has ended. Its blocks and its record are those of a process that was killed. */
void family_is_gone(struct mdl_process *process);
/* This process lives, and is none of this session's any more: it is about to begin one of its own. */
void family_begins_anew(void);
/* This process is about to execute another program, or has failed to. */
void family_executes(bool does);
/* Or has executed another program. */
bool process_has_ended(const struct mdl_process *process);
/* Notes who has ended without a word. */
void family_sweep(void);
/* Of forked processes. */
uint64_t family_cpu_nanos(void);

#endif
