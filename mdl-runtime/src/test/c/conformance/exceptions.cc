// Exceptions thrown through probed frames and caught between them: once, again, while another is handled, by another
// thread, and from far below.
#include "counted.h"

#include <exception>
#include <pthread.h>

struct Failure {
  int code;
};
struct Special : Failure {};

static long cleaned;

// Not probed itself: what is probed has a name without mangling.
struct Guard {
  UNPROBED ~Guard();
};
extern "C" PROBED void clean() {
  COUNTED;
  cleaned++;
}
Guard::~Guard() { clean(); }

extern "C" {
PROBED void fail(int code) {
  COUNTED;
  if (code % 2) throw Failure{code};
  Special special;
  special.code = code;
  throw special;
}

PROBED int pass(int depth, int code) {
  COUNTED;
  Guard guard;
  if (depth == 1) fail(code);
  return pass(depth - 1, code) + 1;
}

// No clean-up: nothing in this frame stops the unwinder.
PROBED int pass_plainly(int depth, int code) {
  COUNTED;
  int below = depth == 1 ? pass(5, code) : pass_plainly(depth - 1, code);
  OPAQUE(below);
  return below + 1;
}

PROBED int catches(int code) {
  COUNTED;
  try {
    return pass_plainly(20, code);
  } catch (const Special &special) {
    return special.code * 100;
  } catch (const Failure &failure) {
    return failure.code;
  }
}

PROBED int rethrows(int code) {
  COUNTED;
  try {
    return pass(3, code);
  } catch (...) {
    Guard guard;
    throw;
  }
}

PROBED int catches_again(int code) {
  COUNTED;
  try {
    return rethrows(code);
  } catch (const Failure &failure) {
    return failure.code + 7;
  }
}

PROBED int nests(int code) {
  COUNTED;
  try {
    return pass(4, code);
  } catch (const Failure &first) {
    int inside = catches(code + 1) + catches_again(code + 2) + std::uncaught_exceptions();
    try {
      return pass(2, first.code * 3);
    } catch (const Failure &second) {
      return inside + second.code;
    }
  }
}

PROBED int sinks(int depth) {
  COUNTED;
  int below = depth == 1 ? pass(1, 1) : sinks(depth - 1);
  OPAQUE(below);
  return below;
}

// Without a constructor and a destructor, which would be functions without a count.
static std::exception_ptr *carried;

PROBED void *keep(void *) {
  COUNTED;
  try {
    pass(6, 9);
  } catch (...) {
    carried = new std::exception_ptr(std::current_exception());
  }
  return nullptr;
}

PROBED void *raise_carried(void *) {
  COUNTED;
  std::rethrow_exception(*carried);
}

PROBED int across_threads() {
  COUNTED;
  pthread_t thread;
  pthread_create(&thread, nullptr, keep, nullptr);
  pthread_join(thread, nullptr);
  try {
    raise_carried(nullptr);
  } catch (const Failure &failure) {
    return failure.code;
  }
  return -1;
}
}

int main() {
  COUNTED;
  // Overflows: what a sanitizer says of it must be the same.
  long sum = 0;
  for (int i = 0; i < 50; i++) sum = sum * 3 + catches(i) + catches_again(i) + nests(i);
  printf("%ld %ld\n", sum, cleaned);
  try {
    sinks(10000);
  } catch (const Failure &failure) {
    printf("from below: %d\n", failure.code);
  }
  printf("across threads: %d\n", across_threads());
  delete carried;
  return 0;
}
