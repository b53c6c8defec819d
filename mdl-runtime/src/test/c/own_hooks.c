/* Has hooks of its own, which nobody else sees, and says how often they were called. */
#include <stdio.h>

static int entered;

__attribute__((visibility("hidden"), no_instrument_function)) void __cyg_profile_func_enter(void *function, void *site) { entered++; }
__attribute__((visibility("hidden"), no_instrument_function)) void __cyg_profile_func_exit(void *function, void *site) {}

__attribute__((noinline)) static void called(void) { __asm__ volatile(""); }

int main(void) {
  called();
  return entered != 2;
}
