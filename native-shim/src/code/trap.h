/* What a thread does that meets a trapping byte. */
#ifndef MDL_TRAP_H
#define MDL_TRAP_H

#include <stdbool.h>
#include <ucontext.h>

/* In the handler of SIGTRAP or SIGILL: false when it is not one of our bytes that raised it. */
bool trap_redirect(int signal, int code, ucontext_t *context);

#endif
