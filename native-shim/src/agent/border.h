/* Where a process leaves its family, because it gives up rights that others of the family keep. */
#ifndef MDL_BORDER_H
#define MDL_BORDER_H

#include <stdbool.h>

/* What is called on a thread of this process and not of its vfork child, which has its parent's memory. */
bool border_is_near(void);
/* The process is about to give up rights: when this is true it shares nothing any more that others of its family follow. */
bool border_cross(void);
/* For ids of the user or the group, given as the arguments of the kernel's call. */
bool border_may_change_ids(long number, unsigned first, unsigned second, unsigned third);

#endif
