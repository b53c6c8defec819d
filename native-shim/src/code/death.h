/* The agent's death. Whether it is dead: session/life.h. */
#ifndef MDL_DEATH_H
#define MDL_DEATH_H

/* Only the first call does something: every site off, one line in the log. The detail may be NULL. */
void agent_died(const char *why, const char *detail);
/* The agent's process ends. Forked processes that live on must not have probes that nobody can switch off: every site off, if
 * there are some. Async-signal-safe. */
void agent_process_dies(void);

#endif
