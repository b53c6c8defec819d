#include "agent/sleep.h"

#include "agent/control.h"
#include "code/libraries.h"
#include "os/sys.h"
#include "session/session.h"

/* So old the session's clock is at most while Java sleeps: what reads counts as they grow divides by it. A request that comes
 * just before the sleep begins waits as long. */
static const uint64_t CLOCK_AGE_NANOS = 60000000u;

int64_t agent_sleep(uint64_t nanos) {
  uint32_t done = libraries_openings_followed();
  uint64_t now = clock_nanos(CLOCK_MONOTONIC);
  uint64_t end = now + nanos;
  while (libraries_openings() == done && !control_has_request() && now < end) {
    libraries_sleep(done, end - now < CLOCK_AGE_NANOS ? end - now : CLOCK_AGE_NANOS);
    session_renew_now();
    now = clock_nanos(CLOCK_MONOTONIC);
  }
  return libraries_openings();
}
