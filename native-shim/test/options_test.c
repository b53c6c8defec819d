/* Options as a process finds them, and 10^6 mutations of them, with sanitizers that detect each access out
 * of bounds. */
#include "check.h"
#include "session/log.h"
#include "session/options.h"

#include <fcntl.h>
#include <stdarg.h>

static int lines_logged;

void log_line(const char *part, ...) {
  (void)part;
  lines_logged++;
}

static void read_options(const char *first, const char *second, const char *third) {
  char *environment[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second, (char *)(uintptr_t)third, NULL};
  memset(&options, 0, sizeof options);
  options_read(environment);
}

static void write_file(const char *path, const char *text, size_t length) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(write(file, text, length) == (ssize_t)length);
  close(file);
}

static void shouldHaveDefaults(void) {
  read_options(NULL, NULL, NULL);
  CHECK_EQUAL(options.start_delay_millis, 50);
  CHECK(!options.wait);
  CHECK_TEXT(options.session, "");
  CHECK_TEXT(options.text, "");
}

static void shouldReadKeysAndLeaveTheRestToJava(void) {
  read_options("MDL_OPTIONS=exact, wait ,session=/a\\,b\\\\c,unknown=1,startDelayMillis=7", "XDG_STATE_HOME=/state", NULL);
  CHECK(options.wait);
  CHECK_EQUAL(options.start_delay_millis, 7);
  CHECK_TEXT(options.session, "/a,b\\c");
  CHECK_EQUAL(options.children, CHILDREN_PROBED);
  CHECK_TEXT(options.text, "exact, wait ,session=/a\\,b\\\\c,unknown=1,startDelayMillis=7");
  CHECK_TEXT(options.state_home, "/state");
}

static void shouldStartAtOnceWhenMainWaits(void) {
  read_options("MDL_OPTIONS=wait", NULL, NULL);
  CHECK_EQUAL(options.start_delay_millis, 0);
  read_options("MDL_OPTIONS=wait=off", NULL, NULL);
  CHECK(!options.wait);
  CHECK_EQUAL(options.start_delay_millis, 50);
}

static void shouldKnowWhichChildrenGetAnAgent(void) {
  read_options("MDL_OPTIONS=children=none", NULL, NULL);
  CHECK_EQUAL(options.children, CHILDREN_NONE);
  read_options("MDL_OPTIONS=children=all", NULL, NULL);
  CHECK_EQUAL(options.children, CHILDREN_ALL);
  read_options("MDL_OPTIONS=children=some", NULL, NULL);
  CHECK_EQUAL(options.children, CHILDREN_PROBED);
}

static void shouldIgnoreDelaysThatAreNoNumbers(void) {
  static const char *const wrong[] = {"-1", "1.5", "x", "", "99999999999999999999", " ", "0x10", "3600001"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[64];
    snprintf(text, sizeof text, "MDL_OPTIONS=startDelayMillis=%s", wrong[i]);
    read_options(text, NULL, NULL);
    CHECK_EQUAL(options.start_delay_millis, 50);
  }
}

static void shouldReadFilesAndLetTheNearerWin(void) {
  static const char text[] = "# wait\n! wait\n  startDelayMillis = 9 \r\nsession=/of/file\n\nwait";
  char path[64], variable[80];
  snprintf(path, sizeof path, "/tmp/options-test-%d", getpid());
  snprintf(variable, sizeof variable, "MDL_CONFIG=%s", path);
  write_file(path, text, sizeof text - 1);
  read_options(variable, NULL, NULL);
  CHECK(options.wait);
  CHECK_EQUAL(options.start_delay_millis, 9);
  CHECK_TEXT(options.session, "/of/file");
  read_options("MDL_OPTIONS=session=/nearer", variable, NULL);
  CHECK_TEXT(options.session, "/nearer");
  unlink(path);
}

static void shouldMakeTheSessionAbsolute(void) {
  char here[PATH_MAX], expected[PATH_MAX + 8];
  CHECK(getcwd(here, sizeof here) != NULL);
  snprintf(expected, sizeof expected, "%s/out", here);
  read_options("MDL_OPTIONS=session=out", NULL, NULL);
  CHECK_TEXT(options.session, expected);
}

static void shouldSayWhenTheyAreCut(void) {
  static char text[3 * sizeof options.text];
  memset(text, 'a', sizeof text - 1);
  memcpy(text, "MDL_OPTIONS=", 12);
  read_options(text, NULL, NULL);
  CHECK_EQUAL(strlen(options.text), sizeof options.text - 1);
  CHECK_EQUAL(lines_logged, 1);
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Overwrites, truncates, or repeats a part. */
static void mutate(char *text, size_t start, size_t capacity, uint64_t *random) {
  static const char alphabet[] = ",\\=\n\r\t #!0189awist/-\x80\xff";
  for (uint64_t n = 1 + next_random(random) % 4; n > 0; n--) {
    size_t length = strlen(text), at = start + next_random(random) % (length - start + 1);
    switch (next_random(random) % 3) {
      case 0: text[at] = alphabet[next_random(random) % (sizeof alphabet - 1)]; break;
      case 1: text[at] = 0; break;
      default: {
        size_t copied = next_random(random) % (length - at + 1);
        if (length + copied < capacity) {
          memmove(text + at + copied, text + at, length - at + 1);
        }
      }
    }
  }
}

static void shouldStayWithinBoundsWhateverIsWritten(void) {
  enum { ROUNDS = 1000000, FILE_ROUNDS = 5000 };
  static const char seed[] = "MDL_OPTIONS=wait,startDelayMillis=20,session=out\\,of\\\\here,function=a*,exact=on, x = y";
  static char text[8192];
  uint64_t random = 88172645463325252u;
  char path[64], variable[80];
  snprintf(path, sizeof path, "/tmp/options-test-%d", getpid());
  snprintf(variable, sizeof variable, "MDL_CONFIG=%s", path);
  for (int i = 0; i < ROUNDS; i++) {
    if (i % 50 == 0) { /* mutations accumulate in between */
      strcpy(text, seed);
    }
    mutate(text, 12, sizeof text - 1, &random);
    bool with_file = i % (ROUNDS / FILE_ROUNDS) == 0;
    if (with_file) {
      write_file(path, text + 12, strlen(text + 12));
    }
    read_options(text, with_file ? variable : NULL, NULL);
    CHECK(options.start_delay_millis <= 3600000);
    CHECK(options.session[0] == 0 || options.session[0] == '/');
    CHECK(strncmp(options.text, text + 12, sizeof options.text - 1) == 0);
  }
  unlink(path);
}

#define TEST(function) {#function, function}
TESTS(TEST(shouldHaveDefaults), TEST(shouldReadKeysAndLeaveTheRestToJava), TEST(shouldStartAtOnceWhenMainWaits),
      TEST(shouldKnowWhichChildrenGetAnAgent),
      TEST(shouldIgnoreDelaysThatAreNoNumbers), TEST(shouldReadFilesAndLetTheNearerWin),
      TEST(shouldMakeTheSessionAbsolute), TEST(shouldSayWhenTheyAreCut), TEST(shouldStayWithinBoundsWhateverIsWritten))
