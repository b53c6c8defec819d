#include "record/rate_spread.h"

/* CPU time from which on a rate is formed: in less, the time to switch probes would count. */
enum { NANOS_MIN = 100000 };

void rate_spread_add(struct mdl_rate_spread *spread, uint64_t calls, uint64_t nanos) {
  spread->calls += calls;
  spread->nanos += nanos;
  if (spread->nanos < NANOS_MIN) {
    return;
  }
  double time = (double)spread->nanos;
  double rate = (double)spread->calls / time;
  if (spread->rate_nanos > 0) {
    double difference = rate - spread->rate;
    spread->squares += difference * difference / (1 / time + 1 / spread->rate_nanos);
    spread->pairs++;
  }
  spread->peak = rate > spread->peak ? rate : spread->peak;
  spread->rate = rate;
  spread->rate_nanos = time;
  spread->calls = 0;
  spread->nanos = 0;
}
