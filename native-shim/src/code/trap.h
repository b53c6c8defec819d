/* What a thread does that meets a trapping byte. */
#ifndef MDL_TRAP_H
#define MDL_TRAP_H

#include <stdbool.h>
#include <ucontext.h>

/* In the handler of SIGTRAP, at INT3: false when the byte is not ours. */
bool trap_redirect(ucontext_t *context);

#endif
