/* A unit test is a function. Each runs in its own process, because the shim can exist only once per
 * process. */
#ifndef MDL_CHECK_H
#define MDL_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct test {
  const char *name;
  void (*run)(void);
};

enum { SKIPPED = 77 };

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);     \
      _exit(1);                                                                   \
    }                                                                             \
  } while (0)

#define CHECK_EQUAL(actual, expected)                                                                              \
  do {                                                                                                             \
    long long actual_ = (long long)(actual), expected_ = (long long)(expected);                                    \
    if (actual_ != expected_) {                                                                                    \
      fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #actual, actual_, expected_);      \
      _exit(1);                                                                                                    \
    }                                                                                                              \
  } while (0)

#define CHECK_TEXT(actual, expected)                                                                               \
  do {                                                                                                             \
    const char *actual_ = (actual), *expected_ = (expected);                                                       \
    if (strcmp(actual_, expected_) != 0) {                                                                         \
      fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #actual, actual_, expected_);  \
      _exit(1);                                                                                                    \
    }                                                                                                              \
  } while (0)

static inline void skip(const char *why) {
  fprintf(stderr, "skipped: %s\n", why);
  _exit(SKIPPED);
}

/* A test is selected by its name, and excluded by a minus and its name; without selected names, all others
 * are run. */
static inline bool is_chosen(const char *name, char **choice) {
  bool chosen = !choice[0] || choice[0][0] == '-';
  for (; *choice; choice++) {
    bool left_out = **choice == '-';
    chosen = strcmp(*choice + left_out, name) == 0 ? !left_out : chosen;
  }
  return chosen;
}

static inline int run_tests(const struct test *tests, size_t count, char **choice) {
  int failures = 0, skipped = 0, passed = 0;
  for (size_t i = 0; i < count; i++) {
    if (!is_chosen(tests[i].name, choice)) {
      continue;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
      alarm(600); /* it hangs */
      tests[i].run();
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      passed++;
      printf("ok      %s\n", tests[i].name);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
      skipped++;
      printf("skipped %s\n", tests[i].name);
    } else {
      failures++;
      printf("FAILED  %s (wait status 0x%x)\n", tests[i].name, (unsigned)status);
    }
  }
  printf("%d passed, %d failed, %d skipped\n", passed, failures, skipped);
  return failures ? 1 : passed ? 0 : SKIPPED;
}

#define TESTS(...)                                                                      \
  int main(int argc, char **argv) {                                                     \
    static const struct test tests[] = {__VA_ARGS__};                                   \
    return run_tests(tests, sizeof tests / sizeof tests[0], argv + (argc > 0));         \
  }

#endif
