/* Signals that are kept out while the shim does something, and those that its threads never get. By system call: libc's
 * functions leave out the signals that libc uses itself. */
#ifndef MDL_SIGNAL_BLOCK_H
#define MDL_SIGNAL_BLOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNALS = 65 };

/* Those that the JVM raises on purpose. */
bool signal_is_fault(int signal);

/* All but SIGTRAP and SIGILL: what is called meanwhile may be the application's, as malloc, and have trapping bytes. */
void signals_block_all_but_traps(sigset_t *before);
/* The same in as little of the stack as can be. */
uint64_t signals_block_word(void);
void signals_restore_word(uint64_t before);
/* For code that calls nobody else's. */
void signals_block_all(sigset_t *before);
/* All but those that the JVM or a debugger needs. */
void signals_block_for_agent(sigset_t *before);
void signals_restore(const sigset_t *before);
/* What agent threads block, whatever they ask for. */
uint64_t signals_blocked_by_agent(void);

#endif
