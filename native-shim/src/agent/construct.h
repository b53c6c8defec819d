/* The work of the library's constructor, which is in constructor.c so that unit tests can leave it out. */
#ifndef MDL_CONSTRUCT_H
#define MDL_CONSTRUCT_H

void agent_construct(char *const *environment);
/* The part of it that concerns the process only. */
void process_start(void);

#endif
