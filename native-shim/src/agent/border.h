/* A process leaves its family when it gives up rights that other members keep. */
#ifndef MDL_BORDER_H
#define MDL_BORDER_H

#include <stdbool.h>

/* True unless the caller is a vfork child, which runs in its parent's memory. */
bool border_is_near(void);
/* Call before the process gives up rights. If true, it no longer shares anything that other members of its family follow. */
bool border_cross(void);
/* The same for user or group ids; the parameters are those of the system call. */
bool border_may_change_ids(long number, unsigned first, unsigned second, unsigned third);

#endif
