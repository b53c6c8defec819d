/* Twenty thousand functions: the first sixteen are called often, each half as often as the one before, the others are
 * called at random. */
#include "truth.h"

enum { FUNCTIONS = 20000, KNOWN = 16 };

volatile uint64_t sink;

typedef uint64_t function(uint64_t);

#define OTHER(n) \
  NOINLINE static uint64_t other_##n(uint64_t x) { return x * n; }
#define FREQUENT(n)                                \
  NOINLINE static uint64_t frequent_##n(uint64_t x) { \
    TIMED(n);                                      \
    return spun(x, 40 << (n / 2));                 \
  }
#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M, n) TEN(M, n##0) TEN(M, n##1) TEN(M, n##2) TEN(M, n##3) TEN(M, n##4) TEN(M, n##5) TEN(M, n##6) TEN(M, n##7) \
    TEN(M, n##8) TEN(M, n##9)
#define THOUSAND(M, n) HUNDRED(M, n##0) HUNDRED(M, n##1) HUNDRED(M, n##2) HUNDRED(M, n##3) HUNDRED(M, n##4) HUNDRED(M, n##5) \
    HUNDRED(M, n##6) HUNDRED(M, n##7) HUNDRED(M, n##8) HUNDRED(M, n##9)
#define TEN_THOUSAND(M, n) THOUSAND(M, n##0) THOUSAND(M, n##1) THOUSAND(M, n##2) THOUSAND(M, n##3) THOUSAND(M, n##4) \
    THOUSAND(M, n##5) THOUSAND(M, n##6) THOUSAND(M, n##7) THOUSAND(M, n##8) THOUSAND(M, n##9)
#define SIXTEEN(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define NAMED_OTHER(n) other_##n,
#define NAMED_FREQUENT(n) frequent_##n,
#define NAME(n) "frequent_" #n,

TEN_THOUSAND(OTHER, 1)
TEN_THOUSAND(OTHER, 2)
SIXTEEN(FREQUENT)

static function *const others[FUNCTIONS] = {TEN_THOUSAND(NAMED_OTHER, 1) TEN_THOUSAND(NAMED_OTHER, 2)};
static function *const frequent[KNOWN] = {SIXTEEN(NAMED_FREQUENT)};

int main(int count, char **arguments) {
  static const char *const names[KNOWN] = {SIXTEEN(NAME)};
  double seconds = truth_begin(count, arguments, names, KNOWN);
  truth_open();
  uint64_t x = 1;
  while (truth_seconds() < seconds) {
    for (int i = 0; i < 1000; i++) {
      x = spun(x, 1);
      x = frequent[__builtin_ctzll(x | 1 << (KNOWN - 1))](x);
      x = others[(x >> 20) % FUNCTIONS](x);
    }
  }
  sink = x;
  truth_close();
  truth_end(arguments[2]);
}
