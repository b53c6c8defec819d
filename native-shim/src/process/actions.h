/* The signal actions that the application and the JVM have set. */
#ifndef MDL_ACTIONS_H
#define MDL_ACTIONS_H

#include "os/signal_block.h"

#include <signal.h>
#include <stdbool.h>

extern struct sigaction jvm_actions[SIGNALS];

/* Async-signal-safe. */
struct sigaction application_action(int signal);
void set_application_action(int signal, const struct sigaction *action);

/* Calls the handler. */
void signals_call(const struct sigaction *action, int signal, siginfo_t *info, void *context);

static inline bool has_handler(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

#endif
