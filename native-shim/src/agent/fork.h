/* Forks. */
#ifndef MDL_FORK_H
#define MDL_FORK_H

/* From now on forked children belong to the family. */
void fork_start(void);

#endif
