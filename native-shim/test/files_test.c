/* Names of descriptors. */
#include "record/files.h"

#include "fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static int64_t entry_of_descriptor(int descriptor) {
  const int64_t *table = *(const int64_t *const *)files_table();
  CHECK_EQUAL(table[0], 0);
  CHECK(table[1] > descriptor);
  return table[2 + descriptor];
}

static const char *name_of(int descriptor) {
  int64_t number = entry_of_descriptor(descriptor);
  if (number <= 0) {
    return "";
  }
  const struct mdl_string *name = (const struct mdl_string *)files_name(number);
  CHECK_EQUAL(name->length, strlen(name->bytes));
  return name->bytes;
}

static void begin(void) {
  create_session();
  CHECK(files_begin());
  files_enter("/home/somebody");
}

static uint64_t text(const char *path) { return (uintptr_t)path; }

static void opened(const char *path, int descriptor) { files_note(MDL_FILE_OPENED, 1, text(path), 0, 0, (uint64_t)descriptor); }

static void shouldNameFilesByTheirPaths(void) {
  begin();
  const char *const paths[][2] = {{"/etc/hosts", "/File/etc/hosts"},
                                  {"//etc/./ssl//", "/File/etc/ssl"},
                                  {"notes", "/File/home/somebody/notes"},
                                  {"./a b/\xc3\xbc", "/File/home/somebody/a b/\xc3\xbc"},
                                  {"/a/../b", ""},
                                  {"/", ""},
                                  {"/bell\a", ""},
                                  {"/\xff", ""},
                                  {"/\xc0\xaf", ""},
                                  {"/\xed\xa0\x80", ""},
                                  {"/\xe2\x82", ""},
                                  {"/x@/y", ""},
                                  {"/socket:1", ""},
                                  {"/#1", ""},
                                  {"/(other)", ""}};
  for (int i = 0; i < (int)(sizeof paths / sizeof *paths); i++) {
    opened(paths[i][0], i);
    CHECK_TEXT(name_of(i), paths[i][1]);
  }
}

static void shouldGiveNoNameThatDoesNotFit(void) {
  begin();
  char path[300] = "/";
  memset(path + 1, 'x', 298);
  opened(path, 3);
  CHECK(entry_of_descriptor(3) < 0);
  path[246] = 0; /* with /File and this, 251 bytes */
  opened(path, 3);
  CHECK_EQUAL(strlen(name_of(3)), 251);
  for (int i = 1; i <= files_capacity(); i++) {
    snprintf(path, sizeof path, "/%d", i);
    opened(path, 4);
    CHECK_EQUAL(entry_of_descriptor(4) > 0, i < files_capacity());
  }
  opened("/1", 5);
  CHECK_TEXT(name_of(5), "/File/1");
  opened("/far", 1 << 16);
  opened("/far", -1);
}

static void shouldFollowDescriptors(void) {
  begin();
  opened("/a", 3);
  int64_t number = entry_of_descriptor(3);
  files_note(MDL_FILE_DUPLICATED, 1, 3, 0, 0, 4);
  files_note(MDL_FILE_CONTROLLED, 1, 3, F_DUPFD_CLOEXEC, 0, 5);
  files_note(MDL_FILE_CONTROLLED, 1, 3, F_GETFL, 0, 6);
  CHECK_TEXT(name_of(4), "/File/a");
  CHECK_TEXT(name_of(5), "/File/a");
  CHECK_EQUAL(entry_of_descriptor(6), 0);

  files_note(MDL_FILE_CLOSES, 1, 3, 0, 0, 0);
  int64_t first = entry_of_descriptor(3);
  files_note(MDL_FILE_CLOSES, 1, 3, 0, 0, 0);
  int64_t second = entry_of_descriptor(3);
  CHECK(first < 0 && second < 0 && first != second);
  CHECK(!files_adopt(3, first, number));
  CHECK(files_adopt(3, second, number));
  CHECK_TEXT(name_of(3), "/File/a");

  opened("/never", -1);
  int ends[] = {3, 4};
  files_note(MDL_FILE_PAIR_MADE, 1, (uintptr_t)ends, 0, 0, 0);
  CHECK_TEXT(name_of(3), "");
  CHECK_TEXT(name_of(4), "");
  files_note(MDL_FILE_RANGE_CLOSES, 1, 5, ~0u, 0, 0);
  CHECK(entry_of_descriptor(5) < 0);

  opened("/directory", 7);
  files_note(MDL_FILE_OPENED_AT, 1, 7, text("inside"), 0, 8);
  CHECK_TEXT(name_of(8), "/File/directory/inside");
  files_note(MDL_FILE_OPENED_AT, 1, (uint64_t)AT_FDCWD, text("at"), 0, 9);
  CHECK_TEXT(name_of(9), "/File/home/somebody/at");
  files_note(MDL_FILE_OPENED_AT, 1, 3, text("nobody knows"), 0, 9);
  CHECK_TEXT(name_of(9), "");
  files_forget();
  CHECK_TEXT(name_of(7), "");
}

/* A call whose arguments have changed, because a handler has intervened. */
static void shouldNotTakeTheArgumentsOfAnotherCall(void) {
  begin();
  opened("/a", 3);
  files_note(MDL_FILE_OPENED, 0, text("/b"), 0, 0, 3);
  CHECK(entry_of_descriptor(3) < 0);
  files_note(MDL_FILE_DIRECTORY_ENTERED, 0, 0, 0, 0, 0);
  opened("relative", 3);
  CHECK(entry_of_descriptor(3) < 0);
}

static void shouldFollowDirectories(void) {
  begin();
  files_note(MDL_FILE_DIRECTORY_ENTERED, 1, text("sub"), 0, 0, (uint64_t)-1);
  opened("x", 3);
  CHECK_TEXT(name_of(3), "/File/home/somebody/x");
  files_note(MDL_FILE_DIRECTORY_ENTERED, 1, text("sub"), 0, 0, 0);
  opened("x", 3);
  CHECK_TEXT(name_of(3), "/File/home/somebody/sub/x");
  files_note(MDL_FILE_DIRECTORY_ENTERED, 1, text("/"), 0, 0, 0);
  opened("x", 3);
  CHECK_TEXT(name_of(3), "/File/x");
  files_note(MDL_FILE_DIRECTORY_ENTERED, 1, text(".."), 0, 0, 0);
  opened("x", 3);
  CHECK_TEXT(name_of(3), "");
  files_note(MDL_FILE_DIRECTORY_ENTERED, 1, text("/y"), 0, 0, 0);
  files_note(MDL_FILE_DIRECTORY_LEFT, 0, 0, 0, 0, 0);
  opened("x", 3);
  CHECK_TEXT(name_of(3), "");
  for (int i = 0; i < 100; i++) {
    files_note(MDL_FILE_DIRECTORY_ENTERED, 1, text("/again"), 0, 0, 0);
  }
  opened("x", 3);
  CHECK_TEXT(name_of(3), "");
}

static void shouldNameStreams(void) {
  begin();
  FILE *stream = fopen("/dev/null", "r");
  files_note(MDL_FILE_STREAM_OPENED, 1, text("/dev/null"), 0, 0, (uintptr_t)stream);
  CHECK_TEXT(name_of(fileno(stream)), "/File/dev/null");
  files_note(MDL_FILE_STREAM_CLOSES, 1, (uintptr_t)stream, 0, 0, 0);
  CHECK_TEXT(name_of(fileno(stream)), "");
  files_note(MDL_FILE_STREAM_OPENED, 1, text("/nowhere"), 0, 0, 0);
}

static void named(const void *address, size_t length, bool accepted, const char *name) {
  int64_t number = files_intern_peer(address, (int64_t)length, accepted);
  CHECK_TEXT(number ? ((const struct mdl_string *)files_name(number))->bytes : "", name);
}

static void shouldNameSocketsByTheirPeers(void) {
  begin();
  struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = htons(5432)};
  inet.sin_addr.s_addr = htonl(0x0a000102);
  named(&inet, sizeof inet, false, "/File/socket:10.0.1.2:5432");
  named(&inet, sizeof inet, true, "/File/socket:10.0.1.2");
  const char *const addresses[][2] = {{"::1", "/File/socket:[::1]:80"},
                                      {"2001:db8::7:0:0:1", "/File/socket:[2001:db8::7:0:0:1]:80"},
                                      {"1:0:2:3:4:5:6:7", "/File/socket:[1:0:2:3:4:5:6:7]:80"},
                                      {"fe80::", "/File/socket:[fe80::]:80"},
                                      {"::ffff:192.0.2.1", "/File/socket:192.0.2.1:80"}};
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
    struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    CHECK_EQUAL(inet_pton(AF_INET6, addresses[i][0], &inet6.sin6_addr), 1);
    named(&inet6, sizeof inet6, false, addresses[i][1]);
  }
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
  named(&local, offsetof(struct sockaddr_un, sun_path) + 6, false, "/File/socket:/run/x");
  named(&local, sizeof local, true, "/File/socket:/run/x");
  local = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "\0name"};
  named(&local, offsetof(struct sockaddr_un, sun_path) + 5, false, "/File/socket:@name");
  named(&local, offsetof(struct sockaddr_un, sun_path), false, "");
  named(&local, 1, false, "");
  named(NULL, 16, false, "");

  files_note(MDL_FILE_CONNECTED, 1, 3, (uintptr_t)&inet, sizeof inet, 0);
  CHECK_TEXT(name_of(3), "/File/socket:10.0.1.2:5432");
  errno = ECONNREFUSED;
  files_note(MDL_FILE_CONNECTED, 1, 4, (uintptr_t)&inet, sizeof inet, (uint64_t)-1);
  CHECK_EQUAL(entry_of_descriptor(4), 0);
  errno = EINPROGRESS;
  files_note(MDL_FILE_CONNECTED, 1, 4, (uintptr_t)&inet, sizeof inet, (uint64_t)-1);
  CHECK_TEXT(name_of(4), "/File/socket:10.0.1.2:5432");
  CHECK_EQUAL(errno, EINPROGRESS);
  socklen_t length = sizeof inet;
  files_note(MDL_FILE_ACCEPTED, 1, 9, (uintptr_t)&inet, (uintptr_t)&length, 5);
  CHECK_TEXT(name_of(5), "/File/socket:10.0.1.2");
  files_note(MDL_FILE_ACCEPTED, 1, 9, 0, 0, 5);
  CHECK_TEXT(name_of(5), "");
}

enum { THREADS = 4, EACH = 400 };

static void *open_all(void *unused) {
  (void)unused;
  char path[32];
  for (int i = 0; i < EACH; i++) {
    snprintf(path, sizeof path, "/%d", i);
    opened(path, i);
  }
  return NULL;
}

/* Concurrent threads may waste numbers, but agree on one. */
static void shouldGiveANameOneNumber(void) {
  begin();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, open_all, NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  char path[32];
  for (int i = 0; i < EACH; i++) {
    snprintf(path, sizeof path, "/File/%d", i);
    int64_t number = files_intern(path, (int64_t)strlen(path));
    CHECK(number == 0 || entry_of_descriptor(i) <= 0 || entry_of_descriptor(i) == number);
    if (entry_of_descriptor(i) > 0) {
      CHECK_TEXT(name_of(i), path);
    }
  }
  CHECK(files_taken() >= EACH || files_taken() == files_capacity());
}

TESTS({"shouldNameFilesByTheirPaths", shouldNameFilesByTheirPaths},
      {"shouldGiveNoNameThatDoesNotFit", shouldGiveNoNameThatDoesNotFit},
      {"shouldFollowDescriptors", shouldFollowDescriptors},
      {"shouldNotTakeTheArgumentsOfAnotherCall", shouldNotTakeTheArgumentsOfAnotherCall},
      {"shouldFollowDirectories", shouldFollowDirectories},
      {"shouldNameStreams", shouldNameStreams},
      {"shouldNameSocketsByTheirPeers", shouldNameSocketsByTheirPeers},
      {"shouldGiveANameOneNumber", shouldGiveANameOneNumber})
