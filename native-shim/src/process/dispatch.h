/* The handler of signals with two dispositions: see dispositions.c. */
#ifndef MDL_DISPATCH_H
#define MDL_DISPATCH_H

#include <signal.h>

/* In signal context: no malloc, no stdio, no locks, no JNI. */
void signals_dispatch(int signal, siginfo_t *info, void *context);

#endif
