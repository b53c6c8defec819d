/* What the library's constructor does. It stands in constructor.c alone, which unit tests leave out. */
#ifndef MDL_CONSTRUCT_H
#define MDL_CONSTRUCT_H

void agent_construct(char *const *environment);
/* Of it, what concerns the process alone. */
void process_start(void);

#endif
