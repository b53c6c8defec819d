/* Exceptions through functions, from and into their middle. Prints a sum that depends on each. */
#include <cstdio>
#include <stdexcept>
#include <string>

static int cleaned;

struct Guard {
  ~Guard() { cleaned++; }
};

#define APART __attribute__((noinline))

APART int thrower(int i) {
  Guard guard;
  if (i % 3 == 0) {
    throw std::runtime_error(std::to_string(i));
  }
  if (i % 7 == 0) {
    throw i;
  }
  if (i % 11 == 0) {
    throw "neither";
  }
  return i;
}

APART int through(int i) {
  Guard guard;
  std::string text(i % 20, 'y');
  return thrower(i) + (int)text.size();
}

APART int typed(int i) {
  try {
    return through(i);
  } catch (std::exception &e) {
    return e.what()[0];
  } catch (int number) {
    return number * 2;
  }
}

APART int any(int i) {
  try {
    return typed(i);
  } catch (...) {
    return -1;
  }
}

int main() {
  long sum = 0;
  for (int i = 1; i <= 2310; i++) {
    sum += any(i);
  }
  std::printf("%ld %d\n", sum, cleaned);
}
