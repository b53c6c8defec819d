/* longjmp across 50 frames, to the caller's frame and to one half way that jumps on. */
#include "counted.h"

#include <setjmp.h>

#define FRAMES 50

static jmp_buf outer, inner;

PROBED long dive(long depth, jmp_buf *target) {
  COUNTED;
  if (depth == 1) longjmp(*target, 1);
  long below = dive(depth - 1, target);
  OPAQUE(below);
  return below + depth;
}

PROBED long jump_once(long x) {
  COUNTED;
  if (setjmp(outer) == 0) return dive(FRAMES, &outer);
  return x + 1;
}

PROBED void relay(void) {
  COUNTED;
  if (setjmp(inner) == 0) dive(FRAMES / 2, &inner);
  longjmp(outer, 2);
}

PROBED long sink_to_relay(long depth) {
  COUNTED;
  if (depth == 1) relay();
  long below = depth == 1 ? 0 : sink_to_relay(depth - 1);
  OPAQUE(below);
  return below + depth;
}

PROBED long jump_twice(long x) {
  COUNTED;
  int jumped = setjmp(outer);
  if (jumped == 0) return sink_to_relay(FRAMES / 2);
  return x + jumped;
}

PROBED int main(void) {
  COUNTED;
  long sum = 0;
  for (long i = 0; i < 500; i++) sum += jump_once(i) * 3 + jump_twice(i);
  printf("%ld\n", sum);
  return 0;
}
