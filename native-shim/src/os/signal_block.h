/* Signal masks for critical sections of the shim and for agent threads. Set by system call, because libc's functions skip
 * the signals that libc reserves. */
#ifndef MDL_SIGNAL_BLOCK_H
#define MDL_SIGNAL_BLOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNALS = 65 };

/* Signals that the JVM raises on purpose. */
bool signal_is_fault(int signal);

/* Blocks all but SIGTRAP and SIGILL: the code that follows may call the application's functions (such as malloc), which
 * may have trapping bytes. */
void signals_block_all_but_traps(sigset_t *before);
/* The same with minimal stack use. */
uint64_t signals_block_word(void);
void signals_restore_word(uint64_t before);
/* For code that calls no function of the application. */
void signals_block_all(sigset_t *before);
/* Blocks all but the signals that the JVM or a debugger needs. */
void signals_block_for_agent(sigset_t *before);
void signals_restore(const sigset_t *before);
/* Signals that agent threads always block. */
uint64_t signals_blocked_by_agent(void);

#endif
