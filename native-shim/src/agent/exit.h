/* The end of the process. */
#ifndef MDL_EXIT_H
#define MDL_EXIT_H

/* From now on the end is noted. */
void exit_start(void);

/* On an agent thread: ends the process when no thread of the application is left. */
void exit_with_application(void);

#endif
