/* Calls all functions of a generated library in turn, for good. */
#include <stdint.h>
#include <stdio.h>

extern uint64_t (*const functions[])(uint64_t);
extern const uint64_t function_count;

__attribute__((no_instrument_function, patchable_function_entry(0))) int main(void) {
  uint64_t x = 1;
  puts("ready");
  fflush(stdout);
  for (;;) {
    for (uint64_t i = 0; i < function_count; i++) {
      x = functions[i](x);
    }
  }
}
