/* The end of the process. */
#ifndef MDL_EXIT_H
#define MDL_EXIT_H

/* From now on the end is noted. */
void exit_start(void);

#endif
