/*
 * A function that does nothing, called in a loop, and how long that took.
 *
 * Each line of the input is a number of calls, and is answered by the ticks that they took. The first line of the output
 * says that the program is ready. With an argument, XRay records the calls in the mode of that name.
 */
#include <stdint.h>
#include <stdio.h>
#include <x86intrin.h>

#ifdef __clang__
#define UNPROBED __attribute__((noinline, no_instrument_function, patchable_function_entry(0), xray_never_instrument))
#else
#define UNPROBED __attribute__((noinline, noclone, no_instrument_function, patchable_function_entry(0)))
#endif

/* XRay's runtime, which is there in programs that are built for it. */
__attribute__((weak)) int __xray_log_select_mode(const char *mode);
__attribute__((weak)) int __xray_log_init_mode(const char *mode, const char *config);
__attribute__((weak)) int __xray_patch(void);
__attribute__((weak)) int __xray_log_finalize(void);
__attribute__((weak)) int __xray_log_flushLog(void);

/* Global, for tools that find functions by their symbols. */
__attribute__((noinline)) void probed(void) {
  /* What a probe cannot do without. */
#if defined READ_CLOCK
  __rdtsc();
  __rdtsc();
#elif defined COUNT
  static volatile uint64_t count;
  count++;
#elif defined FRAME
  __asm__ volatile("" : : : "rbx", "r12");
#elif defined READ_RETURN_ADDRESS
  __asm__ volatile("" : : "r"(__builtin_return_address(0)));
#endif
  __asm__ volatile(""); /* a call of a function without effect would be left out */
}

/* Never called: it has probes that are on where those above are off. */
__attribute__((noinline)) void bystander(void) {
  __asm__ volatile("");
}

UNPROBED int main(int count, char **arguments) {
  long calls;
  if (count > 1) {
    __xray_log_select_mode(arguments[1]);
    __xray_log_init_mode(arguments[1], "func_duration_threshold_us=0");
    __xray_patch();
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  while (scanf("%ld", &calls) == 1) {
    uint64_t start = __rdtsc();
    for (long i = 0; i < calls; i++) {
      probed();
    }
    printf("%lu\n", (unsigned long)(__rdtsc() - start));
  }
  if (count > 1) {
    __xray_log_finalize();
    __xray_log_flushLog();
  }
  return 0;
}
