/* Recursion, 100,000 deep, of one function and of two that call each other. */
#include "counted.h"

#ifndef DEPTH
#define DEPTH 100000
#endif

PROBED long descend(long depth) {
  COUNTED;
  long below = depth == 1 ? 0 : descend(depth - 1);
  OPAQUE(below);
  return below + depth;
}

long pong(long depth);
PROBED long ping(long depth) {
  COUNTED;
  long below = depth == 1 ? 0 : pong(depth - 1);
  OPAQUE(below);
  return below + 2;
}
PROBED long pong(long depth) {
  COUNTED;
  long below = depth == 1 ? 0 : ping(depth - 1);
  OPAQUE(below);
  return below + 3;
}

PROBED int main(void) {
  COUNTED;
  printf("descend %ld\n", descend(DEPTH));
  printf("ping %ld\n", ping(DEPTH));
  printf("descend %ld\n", descend(10));
  return 0;
}
