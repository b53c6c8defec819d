/* Calls probed functions of one shape, without probes of its own. */
#include <stdint.h>

#define UNPROBED __attribute__((noinline, no_instrument_function, patchable_function_entry(0)))

typedef uint64_t function(uint64_t);

/* As Load.java has it. */
struct load {
  volatile uint64_t stop;
  volatile uint64_t rounds; /* so far; in each, every function is called once */
  function *const *functions;
  uint64_t count;
};

UNPROBED uint64_t run(struct load *load) {
  uint64_t x = 1;
  while (!load->stop) {
    for (uint64_t i = 0; i < load->count; i++) {
      x = load->functions[i](x);
    }
    load->rounds++;
  }
  return x;
}

UNPROBED uint64_t call(function *function, uint64_t times) {
  uint64_t x = 1;
  for (uint64_t i = 0; i < times; i++) {
    x = function(x);
  }
  return x;
}
