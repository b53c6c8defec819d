/*
 * A hundred functions, each of which is called ten times when a line has been read; then it says how many calls these were,
 * and ends at the end of its input.
 */
#include <stdio.h>

static volatile long calls;
static volatile long last; /* so that no two functions are the same */

#define FUNCTION(n) \
  __attribute__((noinline)) static void called##n(void) { calls++, last = n; }
#define TEN(each, n) \
  each(n##0) each(n##1) each(n##2) each(n##3) each(n##4) each(n##5) each(n##6) each(n##7) each(n##8) each(n##9)
#define HUNDRED(each) \
  TEN(each, 1) TEN(each, 2) TEN(each, 3) TEN(each, 4) TEN(each, 5) TEN(each, 6) TEN(each, 7) TEN(each, 8) TEN(each, 9) \
  TEN(each, 10)
#define CALL(n) called##n();

HUNDRED(FUNCTION)

int main(void) {
  puts("ready");
  fflush(stdout);
  getchar();
  for (int i = 0; i < 10; i++) {
    HUNDRED(CALL)
  }
  printf("%ld\n", calls);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
