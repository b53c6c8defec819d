/* Announces that the agent is ready. */
#ifndef MDL_READY_H
#define MDL_READY_H

/* See api.h, ready. */
void agent_ready(void);

#endif
