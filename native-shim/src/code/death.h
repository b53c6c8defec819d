/* The agent's death. Whether it is dead: session/life.h. */
#ifndef MDL_DEATH_H
#define MDL_DEATH_H

/* Switches every site off and logs one line; only the first call has an effect. `detail` may be NULL. */
void agent_died(const char *why, const char *detail);
/* The agent's process ends. Switches every site off if forked processes live on, because no agent could switch their
 * probes off. Async-signal-safe. */
void agent_process_dies(void);

#endif
