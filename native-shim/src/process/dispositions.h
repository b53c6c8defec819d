/* Two sets of signal dispositions: the application's and the JVM's. */
#ifndef MDL_DISPOSITIONS_H
#define MDL_DISPOSITIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Makes signals_dispatch() the handler of these TRAPS: 0, or -errno. */
int64_t signals_take(uint64_t traps);
/* The same for all TRAPS: threads may execute trapping bytes from now on. */
int64_t signals_catch_traps(void);
/* Makes SIGILL interrupt waits of agent threads without resuming them. */
void signals_interrupt_agent(void);
/* No agent thread is left: returns the application's actions to the kernel. */
void signals_give_back(void);
/* In a forked child, which has no JVM: restores the application's dispositions, except for signals that trapping bytes
 * raise. */
void signals_forked(void);
/* The TRAPS for which the application has a handler. */
uint64_t signals_traps_handled(void);

/* Whether to bypass libc's own functions. True for every signal that may be dispatched, even before it is: dispatching may
 * begin between this check and libc's function, which would then see and replace our handler. */
bool signal_is_virtual(int signal);

struct kernel_action;
long signals_raw_sigaction(int signal, const struct kernel_action *action, struct kernel_action *old);

#endif
