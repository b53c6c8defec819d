#include "session/waiters.h"

#include "os/sys.h"

#include <stdatomic.h>

static latch main_may_go;
static _Atomic int main_is;
enum { GONE = 0, HELD = 1, CLAIMED = 2 };
static _Atomic uint32_t changes; /* of the state that clients wait for */

void waiters_let_main_go(void) { latch_open(&main_may_go); }

bool waiters_hold_main(uint64_t nanos, bool (*in_vain)(void)) {
  atomic_store(&main_is, HELD);
  do {
    if (latch_await(&main_may_go, nanos)) {
      return true;
    }
  } while (!in_vain());
  int held = HELD;
  if (atomic_compare_exchange_strong(&main_is, &held, GONE)) {
    return false;
  }
  while (!latch_await(&main_may_go, nanos)) {
  }
  return true;
}

bool waiters_claim_main(void) {
  int held = HELD;
  return atomic_compare_exchange_strong(&main_is, &held, CLAIMED);
}

void waiters_look_again(void) {
  atomic_fetch_add(&changes, 1);
  futex_wake(&changes);
}

uint32_t waiters_changes(void) { return atomic_load(&changes); }

void waiters_await_change(uint32_t seen, uint64_t nanos) { futex_wait(&changes, seen, nanos); }
