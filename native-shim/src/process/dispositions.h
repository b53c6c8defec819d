/* Dispositions: the application's and the JVM's, side by side. */
#ifndef MDL_DISPOSITIONS_H
#define MDL_DISPOSITIONS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on signals_dispatch() has those of TRAPS: 0, or -errno. */
int64_t signals_take(uint64_t traps);
/* All of them: threads may meet trapping bytes from now on. */
int64_t signals_catch_traps(void);
/* From now on SIGILL interrupts waits of agent threads, and none is resumed. */
void signals_interrupt_agent(void);
/* No agent thread is left: the kernel has the application's actions. */
void signals_give_back(void);
/* In a forked child, which has no JVM: the application's own dispositions again, but for what trapping bytes raise. */
void signals_forked(void);
/* Those of TRAPS for which the application has a handler. */
uint64_t signals_traps_handled(void);

struct kernel_action;
long signals_raw_sigaction(int signal, const struct kernel_action *action, struct kernel_action *old);

#endif
