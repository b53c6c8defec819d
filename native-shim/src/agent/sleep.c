#include "agent/sleep.h"

#include "agent/control.h"
#include "agent/jvm_pages.h"
#include "code/libraries.h"
#include "os/sys.h"
#include "record/apart_calls.h"
#include "record/slices.h"
#include "session/memory.h"
#include "session/session.h"

/* Maximum age of the session's clock while Java sleeps; readers divide growing counts by it. If Java sleeps longer because
 * the program is idle, counts do not grow. */
static const uint64_t CLOCK_AGE_NANOS = 60000000u;
static const uint64_t LONG_NANOS = 300000000u;
static const uint64_t IDLE_AGE_NANOS = 500000000u;

int64_t agent_sleep(uint64_t nanos) {
  uint32_t done = libraries_openings_followed();
  uint64_t now = clock_nanos(CLOCK_MONOTONIC);
  uint64_t end = now + nanos;
  uint64_t expired = __atomic_load_n(&session->expired, __ATOMIC_RELAXED);
  uint64_t most = nanos > LONG_NANOS ? IDLE_AGE_NANOS : CLOCK_AGE_NANOS;
  for (;;) {
    uint32_t bell = libraries_bell();
    if (libraries_openings() != done || control_has_request() || now >= end ||
        __atomic_load_n(&session->expired, __ATOMIC_RELAXED) != expired) {
      break;
    }
    uint64_t settling;
    if (slices_open(now, &settling)) {
      if (settling) {
        libraries_sleep(bell, settling);
      }
      libraries_sleep(bell, slices_begin());
      slices_close();
    } else {
      uint64_t wake = end < slices_next() ? end : slices_next();
      libraries_sleep(bell, wake - now < most ? wake - now : most);
    }
    session_renew_now();
    apart_calls_take_sometimes();
    jvm_pages_release(now);
    now = clock_nanos(CLOCK_MONOTONIC);
  }
  return libraries_openings();
}
