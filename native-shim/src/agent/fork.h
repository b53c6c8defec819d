/* Forks. */
#ifndef MDL_FORK_H
#define MDL_FORK_H

/* Makes forked children members of the family from now on. */
void fork_start(void);

#endif
