#include "process/actions.h"

#include <stdatomic.h>

/*
 * The application's action for a signal, replaced as a whole while handlers read it.
 *
 * Assumes    A1 a reader is overtaken by RING replacements between its copy and its check only finitely often
 * Guarantees G1 a reader gets an action that was in force while it read
 * Progress   P1 readers and writers are lock-free
 *
 *   writer                                reader
 *   1 ticket = claimed++                  1 ticket = newest (acquire)
 *   2 slot[ticket % RING] = action        2 copy slot[ticket % RING]
 *   3 newest = max(newest, ticket)        3 valid when claimed - ticket < RING, else again
 */
enum { RING = 16 };
struct action_ring {
  _Atomic uint32_t claimed;
  _Atomic uint32_t newest;
  struct sigaction slot[RING];
};

static struct action_ring application_actions[SIGNALS];
struct sigaction jvm_actions[SIGNALS];

void set_application_action(int signal, const struct sigaction *action) {
  struct action_ring *ring = &application_actions[signal];
  uint32_t ticket = atomic_fetch_add(&ring->claimed, 1) + 1;
  ring->slot[ticket % RING] = *action;
  uint32_t newest = atomic_load(&ring->newest);
  while ((int32_t)(ticket - newest) > 0 && !atomic_compare_exchange_weak(&ring->newest, &newest, ticket)) {
  }
}

struct sigaction application_action(int signal) {
  struct action_ring *ring = &application_actions[signal];
  struct sigaction action;
  uint32_t ticket;
  do {
    ticket = atomic_load_explicit(&ring->newest, memory_order_acquire);
    action = ring->slot[ticket % RING];
    atomic_thread_fence(memory_order_acquire);
  } while (atomic_load(&ring->claimed) - ticket >= RING);
  return action;
}

void signals_call(const struct sigaction *action, int signal, siginfo_t *info, void *context) {
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(signal, info, context);
  } else {
    action->sa_handler(signal);
  }
}
