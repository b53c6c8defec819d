// An exception that nobody catches: std::terminate, called with the probed frames still there.
#include "counted.h"

#include <exception>

extern "C" {
PROBED void on_terminate() {
  COUNTED;
  puts("terminating");
  fflush(stdout);
  write_counts();
  abort();
}

PROBED int throws(int depth) {
  COUNTED;
  if (depth == 1) throw depth;
  int below = throws(depth - 1);
  OPAQUE(below);
  return below + 1;
}
}

int main() {
  COUNTED;
  std::set_terminate(on_terminate);
  return throws(10);
}
