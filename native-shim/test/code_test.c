#include "agent/api_table.h"
#include "code/code.h"
#include "code/decode.h"
#include "code/demangle.h"
#include "code/toggle.h"
#include "fixture.h"
#include "record/record.h"
#include "session/log.h"
#include "session/memory.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mdl/api.h>
#include <pthread.h>
#include <sys/mman.h>

/* ---- mappings */

/* mov $imm32, %eax; ret */
static void put_constant(uint8_t *at, uint32_t value) {
  at[0] = 0xB8;
  memcpy(at + 1, &value, 4);
  at[5] = 0xC3;
}

typedef uint32_t (*constant)(void);

static constant function_at(uint64_t address) {
  constant function;
  memcpy(&function, &address, sizeof function);
  return function;
}

/* The low end of a gap: the kernel puts other mappings at the high end. */
static uint64_t free_address(void) {
  size_t length = 16 << 20;
  void *at = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  munmap(at, length);
  return (uintptr_t)at;
}

/* Permissions in /proc/self/maps of the mapping that contains `address`. */
static const char *permissions(uint64_t address) {
  static char line[512], result[5];
  FILE *maps = fopen("/proc/self/maps", "r");
  result[0] = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx %4s", &from, &to, result) == 3 && from <= address && address < to) {
      break;
    }
    result[0] = 0;
  }
  fclose(maps);
  return result;
}

static void shouldMapExecutableMemoryExactlyThereWithAWritableAlias(void) {
  code_start();
  uint64_t at = free_address();
  int64_t alias = code_map(at, 8192);
  CHECK(alias > 0);
  put_constant((uint8_t *)alias, 42);
  CHECK_EQUAL(function_at(at)(), 42);
  code_store((uint64_t)alias + 1, 77, 4);
  CHECK_EQUAL(function_at(at)(), 77);
  CHECK_TEXT(permissions(at), "r-xp");
  CHECK_TEXT(permissions((uint64_t)alias), "rw-s");
  CHECK_EQUAL(code_map(at, 4096), -EEXIST);
  CHECK_EQUAL(code_map(at + 1, 4096), -EINVAL);
  CHECK_EQUAL(code_map(at, 0), -EINVAL);
}

__attribute__((noinline, noclone, aligned(4096))) static uint32_t patched(void) {
  uint32_t value;
  __asm__ volatile("movl $0x11223344, %0" : "=r"(value));
  return value;
}

static volatile bool stop_running;
static volatile uint32_t last_seen;
static volatile uint64_t runs;

static void *run_patched(void *unused) {
  (void)unused;
  while (!stop_running) {
    last_seen = patched();
    runs++;
  }
  return NULL;
}

static void shouldRemapRunningTextSoThatStoresThroughTheAliasAreExecuted(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run_patched, NULL);
  while (runs == 0) {
  }
  uint64_t page = (uintptr_t)patched & ~4095ULL;
  code_start();
  int64_t alias = code_copy(page, 4096, 0);
  CHECK(alias > 0);
  CHECK_EQUAL(code_show(page, 4096, (uint64_t)alias), 0);
  CHECK_TEXT(permissions(page), "r-xp");
  CHECK_EQUAL(patched(), 0x11223344);
  uint8_t *text = (uint8_t *)alias;
  int at = 0;
  while (memcmp(text + at, "\x44\x33\x22\x11", 4) != 0) {
    CHECK(++at < 64);
  }
  code_store((uint64_t)alias + (uint64_t)at, 0x55667788, 4);
  CHECK_EQUAL(code_sync_cores(), 0);
  CHECK_EQUAL(patched(), 0x55667788);
  uint64_t before = runs;
  while (runs < before + 2) {
  }
  CHECK_EQUAL(last_seen, 0x55667788); /* the thread that kept running sees it as well */
  stop_running = true;
  pthread_join(thread, NULL);
  int child = fork();
  if (child == 0) {
    _exit(patched() == 0x55667788 ? 5 : 6);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(WEXITSTATUS(status), 5);
}

enum { REPLACEMENTS = 20000, OLD = 0x11223344, NEW = 0x55667788 };

static constant straddler;
static _Atomic uint64_t values_seen[2];

static void *run_straddler(void *unused) {
  while (!stop_running) {
    uint32_t value = straddler();
    CHECK(value == OLD || value == NEW);
    values_seen[value == NEW]++;
  }
  return unused;
}

static void shouldReplaceTextUnderRunningThreads(void) {
  code_start();
  uint64_t at = free_address();
  int64_t text_alias = code_map(at, 8192);
  CHECK(text_alias > 0);
  uint64_t function = 4096 - 3; /* its constant straddles the page boundary */
  put_constant((uint8_t *)text_alias + function, OLD);
  straddler = function_at(at + function);
  int64_t old = code_copy(at, 8192, 0), new = code_copy(at, 8192, 0);
  CHECK(old > 0 && new > 0 && old != new);
  put_constant((uint8_t *)new + function, NEW);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, run_straddler, NULL);
  }
  for (int i = 0; i < REPLACEMENTS; i++) {
    CHECK_EQUAL(code_show(at, 8192, (uint64_t)(i % 2 == 0 ? new : old)), 0);
  }
  while (values_seen[0] < 1000 || values_seen[1] < 1000) {
    code_show(at, 8192, (uint64_t)(values_seen[0] < 1000 ? old : new));
    usleep(100);
  }
  stop_running = true;
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
  }
  CHECK_TEXT(permissions(at), "r-xp");
  CHECK_EQUAL(code_copy(at, 8192, (uint64_t)new), new); /* to the same address again */
  CHECK_EQUAL(code_copy(at + 1, 8192, 0), -EINVAL);
  CHECK_EQUAL(code_copy(at, 1ULL << 40, 0), -ENOSPC);
}

static void shouldNotTakeAFileOfTheApplicationForItsOwn(void) {
  code_start();
  uint64_t at = free_address();
  CHECK(code_map(at, 4096) > 0);
  int64_t alias = code_copy(at, 4096, 0);
  CHECK(alias > 0);
  int null = open("/dev/null", O_RDWR);
  for (int file = 3; file < 64; file++) { /* whichever number it has */
    if (file != null) {
      dup2(null, file);
    }
  }
  CHECK_EQUAL(code_show(at, 4096, (uint64_t)alias), -EBADF);
}

static void shouldStoreExactlyTheGivenBytes(void) {
  static const int64_t sizes[] = {1, 2, 4, 8};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (int offset = 0; offset < 8; offset++) {
      uint8_t bytes[24], expected[24];
      memset(bytes, 0xEE, sizeof bytes);
      memset(expected, 0xEE, sizeof expected);
      uint64_t value = 0x8877665544332211ULL;
      memcpy(expected + 4 + offset, &value, (size_t)sizes[i]);
      code_store((uintptr_t)bytes + 4 + (uint64_t)offset, value, sizes[i]);
      CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    }
  }
}

static void shouldReplaceTheBitsOfTheMaskAndNoOthers(void) {
  for (size_t offset = 0; offset < 16; offset++) {
    _Alignas(64) uint8_t bytes[64]; /* inside one unit */
    uint8_t expected[64];
    memset(bytes, 0xEE, sizeof bytes);
    memset(expected, 0xEE, sizeof expected);
    uint64_t alias = (uintptr_t)bytes + offset;
    code_replace(alias, 0xFFFFFF0000, 0x3322110000);
    memcpy(expected + offset + 2, "\x11\x22\x33", 3);
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    const uint64_t stores[][3] = {
        {alias + 2, 0xFF, 0xCC}, {alias, 0xFFFF000000, 0x5544000000}, {alias + 8, ~0ULL, 7}, {alias, 0xFF0000000000, 0}};
    code_replace_all(stores, 4);
    memcpy(expected + offset + 2, "\xCC\x44\x55\0\xEE\xEE\x07\0\0\0\0\0\0", 14);
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    code_replace_all(stores, 0);
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
  }
}

enum { LINES = 100, REPLACED = 2000 };

static _Alignas(64) uint64_t shared_words[LINES][8];

/* Counts in the four bytes of each word that belong to it. */
static void *count_in_all(void *high) {
  unsigned shift = high ? 32 : 0;
  uint64_t stores[LINES][3];
  for (uint64_t value = 1; value <= REPLACED; value++) {
    for (size_t i = 0; i < LINES; i++) {
      stores[i][0] = (uintptr_t)shared_words[i];
      stores[i][1] = 0xFFFFFFFFULL << shift;
      stores[i][2] = value << shift;
    }
    code_replace_all((const uint64_t(*)[3])stores, LINES);
    for (size_t i = 0; i < LINES; i++) {
      CHECK_EQUAL((uint32_t)(__atomic_load_n(shared_words[i], __ATOMIC_RELAXED) >> shift), value);
    }
  }
  return NULL;
}

static void shouldUndoNoStoreOfANeighbour(void) {
  pthread_t other;
  pthread_create(&other, NULL, count_in_all, shared_words);
  count_in_all(NULL);
  pthread_join(other, NULL);
  for (size_t i = 0; i < LINES; i++) {
    CHECK_EQUAL(shared_words[i][0], REPLACED | (uint64_t)REPLACED << 32);
    CHECK_EQUAL(shared_words[i][1], 0);
  }
}

static void shouldToggleSitesAndCountTheStores(void) {
  fixture(true);
  uint32_t indices[] = {0, 3, 15};
  CHECK_EQUAL(code_toggle(indices, 3, 1), 3);
  CHECK_EQUAL(code[0], ENTRY_ON);
  CHECK_EQUAL(code[3], EXIT_ON);
  CHECK_EQUAL(code[15], EXIT_ON);
  CHECK_EQUAL(code[1], OFF);
  CHECK_EQUAL(code_toggle(indices + 1, 2, 0), 2);
  CHECK_EQUAL(code[0], ENTRY_ON);
  CHECK_EQUAL(code[3], OFF);
  CHECK_EQUAL(code[15], OFF);
  CHECK_EQUAL(session->toggles, 5);
}

enum { LINE = 64, FIVE = 5, PAGE = 4096 };

static const uint64_t ON_FIVE = 0xCC1122CCE9, OFF_FIVE = 0x41E5894855;

static void make_five(uint32_t index, uint8_t *at) {
  sites[index].store = (uintptr_t)at;
  sites[index].on = ON_FIVE;
  sites[index].off = OFF_FIVE;
  sites[index].size = FIVE;
}

/* A page between two inaccessible ones. */
static uint8_t *lone_page(void) {
  uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK_EQUAL(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
  return pages + PAGE;
}

static void shouldToggleFiveBytesAndNoOthers(void) {
  fixture(true);
  uint8_t *page = lone_page();
  for (int line = 0; line < PAGE; line += PAGE - LINE) {
    for (int offset = 0; offset <= LINE - FIVE; offset++) {
      uint32_t index = 0;
      uint8_t expected[PAGE];
      memset(page, 0xEE, PAGE);
      memset(expected, 0xEE, PAGE);
      make_five(index, page + line + offset);
      code_toggle(&index, 1, 1);
      memcpy(expected + line + offset, &ON_FIVE, FIVE);
      CHECK(memcmp(page, expected, PAGE) == 0);
      code_toggle(&index, 1, 0);
      memcpy(expected + line + offset, &OFF_FIVE, FIVE);
      CHECK(memcmp(page, expected, PAGE) == 0);
      code_toggle(&index, 1, 1);
      code_switch_all_off();
      CHECK(memcmp(page, expected, PAGE) == 0);
    }
  }
}

/* Neighbours with overlapping words: one word is aligned, the other begins with its site. */
static _Alignas(64) uint8_t crowded[LINE];

static void *toggle_five(void *second) {
  enum { TOGGLES = 200000 };
  uint32_t index = second ? 1 : 0;
  for (int i = 0; i < TOGGLES; i++) {
    int on = i % 2 == 0;
    code_toggle(&index, 1, on);
    CHECK(memcmp((const uint8_t *)sites[index].store, on ? &ON_FIVE : &OFF_FIVE, FIVE) == 0);
  }
  return NULL;
}

static void shouldUndoNoStoreOfANeighbourOfFiveBytes(void) {
  fixture(true);
  memset(crowded, 0xEE, sizeof crowded);
  make_five(0, crowded + 8);
  make_five(1, crowded + 8 + FIVE);
  pthread_t other;
  pthread_create(&other, NULL, toggle_five, crowded);
  toggle_five(NULL);
  pthread_join(other, NULL);
  for (int i = 0; i < LINE; i++) {
    CHECK(crowded[i] == 0xEE || (i >= 8 && i < 8 + 2 * FIVE));
  }
}

static void shouldReachTheThreadsWordThroughTheOffset(void) {
  fixture(true);
  const struct mdl_api *api = api_table();
  CHECK_EQUAL(api->size, sizeof *api);
  struct mdl_thread **word;
  __asm__ volatile("movq %%fs:0, %0" : "=r"(word));
  word = (struct mdl_thread **)((char *)word + api->tls_offset);
  CHECK(*word == NULL);
  record_entry_slow(entry_of(0), address_of(0), 0x7fff0000);
  CHECK(*word == mdl_self && mdl_self != NULL);
}

/* ---- instruction lengths: objdump is the oracle */

static void shouldDecodeTheLengthsThatObjdumpSees(void) {
  Dl_info info;
  static const char *const names[] = {"qsort", "printf", "memcpy", "strtod", "getaddrinfo", "regcomp", "glob"};
  int instructions = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *symbol = dlsym(RTLD_DEFAULT, names[i]);
    CHECK(symbol && dladdr(symbol, &info));
    uint64_t at = (uintptr_t)symbol;
    uint64_t bias = (uintptr_t)info.dli_fbase;
    enum { LENGTH = 400 };
    uint8_t lengths[LENGTH];
    CHECK(decode_lengths(at, LENGTH, lengths) > LENGTH - 16);
    char command[512], line[512];
    snprintf(command, sizeof command, "objdump -d -w --start-address=0x%lx --stop-address=0x%lx '%s'", at - bias,
             at - bias + LENGTH, info.dli_fname);
    FILE *output = popen(command, "r");
    CHECK(output != NULL);
    uint64_t previous = 0;
    while (fgets(line, sizeof line, output)) {
      unsigned long address;
      char colon;
      if (sscanf(line, " %lx%c\t", &address, &colon) != 2 || colon != ':') {
        continue;
      }
      address += bias;
      if (previous && address < at + LENGTH - 16 /* the last one is truncated */) {
        CHECK_EQUAL(lengths[previous - at], address - previous);
        for (uint64_t inside = previous + 1; inside < address; inside++) {
          CHECK_EQUAL(lengths[inside - at], 0);
        }
        instructions++;
      }
      previous = address;
    }
    if (pclose(output) != 0) {
      skip("objdump does not run");
    }
  }
  CHECK(instructions > 300);
}

static void shouldStopDecodingAtTheFirstBadInstruction(void) {
  static const uint8_t text[] = {0x90, 0x48, 0x89, 0xC3, 0x06 /* push %es: invalid in 64-bit mode */, 0x90};
  uint8_t lengths[sizeof text];
  CHECK_EQUAL(decode_lengths((uintptr_t)text, sizeof text, lengths), 4);
  CHECK_EQUAL(lengths[0], 1);
  CHECK_EQUAL(lengths[1], 3);
  CHECK_EQUAL(lengths[4], 0);
  CHECK_EQUAL(decode_lengths((uintptr_t)text, 2, lengths), 1); /* the last one is truncated */
}

/* ---- names */

static void shouldDemangleAndReportWhatDoesNotFitOrIsNotMangled(void) {
  char name[256];
  int64_t length = demangle("_ZNSt6vectorIiSaIiEE9push_backERKi", name, sizeof name);
  CHECK_TEXT(name, "std::vector<int, std::allocator<int> >::push_back(int const&)");
  CHECK_EQUAL(length, strlen(name));
  CHECK_EQUAL(demangle("_ZN3foo3barEiPKc", name, 26), -ERANGE);
  CHECK_EQUAL(demangle("_ZN3foo3barEiPKc", name, 27), 26);
  CHECK_EQUAL(demangle("_Zgarbage", name, sizeof name), -EINVAL);
}

/* On a stack as small as the agent's. */
static void *demangle_mutants(void *unused) {
  static const char *const seeds[] = {
      "_ZNSt6vectorIiSaIiEE9push_backERKi",
      "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS5_ESaISt4pairIKS5_iEEEixERS9_",
      "_ZZ4mainENKUlT_E_clIiEEDaS_", "_ZN1AIXadL_Z3foovEEE1bIJidcEEEvDpT_", "_ZGVZN3foo3barEvE1x"};
  uint64_t random = 42;
  for (int i = 0; i < 200000; i++) {
    char symbol[4096], name[8192];
    strcpy(symbol, seeds[i % 5]);
    size_t length = strlen(symbol);
    for (int n = 0; n < 1 + i % 4; n++) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      symbol[2 + (random >> 33) % (length - 2)] = "0123456789EISTNKRPZLXDab_"[(random >> 50) % 25];
    }
    int64_t result = demangle(symbol, name, sizeof name);
    CHECK(result < 0 || (size_t)result == strlen(name));
  }
  char deep[4096] = "_Z1f";
  memset(deep + 4, 'P', sizeof deep - 6);
  deep[sizeof deep - 2] = 'i';
  char name[8192];
  CHECK_EQUAL(demangle(deep, name, sizeof name), -EINVAL); /* its recursion is limited */
  return unused;
}

static void shouldSurviveNamesThatAreNotWellFormed(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  CHECK_EQUAL(pthread_create(&thread, &attributes, demangle_mutants, NULL), 0);
  pthread_join(thread, NULL);
}

/* ---- options */

static void read_options(const char *mdl_options) {
  char variable[256];
  snprintf(variable, sizeof variable, "MDL_OPTIONS=%s", mdl_options);
  char *environment[] = {(char[]){"OTHER=1"}, variable, (char[]){"HOME=/nowhere"}, NULL};
  memset(&options, 0, sizeof options);
  options_read(environment);
  CHECK_TEXT(options.text, mdl_options);
}

static void shouldReadTheShimsOptionsAndLeaveTheOthers(void) {
  read_options("exact,wait,session=/a/b=c,include=x*");
  CHECK(options.wait);
  CHECK_EQUAL(options.start_delay_millis, 0);
  CHECK_TEXT(options.session, "/a/b=c");
  CHECK_TEXT(options.state_home, "/nowhere/.local/state");
  read_options("");
  CHECK(!options.wait);
  CHECK_EQUAL(options.start_delay_millis, 50);
  read_options("wait=off, startDelayMillis = 7 ,waiting");
  CHECK(!options.wait);
  CHECK_EQUAL(options.start_delay_millis, 7);
  read_options("startDelayMillis=7x");
  CHECK_EQUAL(options.start_delay_millis, 50);
  read_options("wait,startDelayMillis=99");
  CHECK_EQUAL(options.start_delay_millis, 99);
  char expected[PATH_MAX];
  CHECK(getcwd(expected, sizeof expected - 8) != NULL);
  strcat(expected, "/here");
  read_options("session=here");
  CHECK_TEXT(options.session, expected);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  fputs(text, file);
  fclose(file);
}

static void shouldLetTheNearerSourceWin(void) {
  make_scratch();
  char home[128], path[256], config[300], command[256];
  snprintf(home, sizeof home, "HOME=%s", scratch);
  snprintf(command, sizeof command, "mkdir -p %s/.config/mdl", scratch);
  CHECK_EQUAL(system(command), 0);
  snprintf(path, sizeof path, "%s/.config/mdl/mdl.properties", scratch);
  write_file(path, "# a comment\nstartDelayMillis = 5\r\nwait\nsession=/home/session\n");
  snprintf(path, sizeof path, "%s/nearer", scratch);
  write_file(path, "session=/config/session\nwait=off");
  snprintf(config, sizeof config, "MDL_CONFIG=%s", path);
  char *environment[] = {home, config, (char[]){"MDL_OPTIONS=wait=yes"}, NULL};
  options_read(environment);
  CHECK_EQUAL(options.start_delay_millis, 5);
  CHECK_TEXT(options.session, "/config/session");
  CHECK(options.wait);
  remove_scratch();
}

static void shouldFormatNumbersForTheLog(void) {
  CHECK_TEXT(decimal(0).text, "0");
  CHECK_TEXT(decimal(-7).text, "-7");
  CHECK_TEXT(decimal(INT64_MIN).text, "-9223372036854775808");
  CHECK_TEXT(decimal(INT64_MAX).text, "9223372036854775807");
}

TESTS({"shouldMapExecutableMemoryExactlyThereWithAWritableAlias",
       shouldMapExecutableMemoryExactlyThereWithAWritableAlias},
      {"shouldRemapRunningTextSoThatStoresThroughTheAliasAreExecuted",
       shouldRemapRunningTextSoThatStoresThroughTheAliasAreExecuted},
      {"shouldReplaceTextUnderRunningThreads", shouldReplaceTextUnderRunningThreads},
      {"shouldNotTakeAFileOfTheApplicationForItsOwn", shouldNotTakeAFileOfTheApplicationForItsOwn},
      {"shouldStoreExactlyTheGivenBytes", shouldStoreExactlyTheGivenBytes},
      {"shouldReplaceTheBitsOfTheMaskAndNoOthers", shouldReplaceTheBitsOfTheMaskAndNoOthers},
      {"shouldUndoNoStoreOfANeighbour", shouldUndoNoStoreOfANeighbour},
      {"shouldToggleSitesAndCountTheStores", shouldToggleSitesAndCountTheStores},
      {"shouldToggleFiveBytesAndNoOthers", shouldToggleFiveBytesAndNoOthers},
      {"shouldUndoNoStoreOfANeighbourOfFiveBytes", shouldUndoNoStoreOfANeighbourOfFiveBytes},
      {"shouldReachTheThreadsWordThroughTheOffset", shouldReachTheThreadsWordThroughTheOffset},
      {"shouldDecodeTheLengthsThatObjdumpSees", shouldDecodeTheLengthsThatObjdumpSees},
      {"shouldStopDecodingAtTheFirstBadInstruction", shouldStopDecodingAtTheFirstBadInstruction},
      {"shouldDemangleAndReportWhatDoesNotFitOrIsNotMangled", shouldDemangleAndReportWhatDoesNotFitOrIsNotMangled},
      {"shouldSurviveNamesThatAreNotWellFormed", shouldSurviveNamesThatAreNotWellFormed},
      {"shouldReadTheShimsOptionsAndLeaveTheOthers", shouldReadTheShimsOptionsAndLeaveTheOthers},
      {"shouldLetTheNearerSourceWin", shouldLetTheNearerSourceWin},
      {"shouldFormatNumbersForTheLog", shouldFormatNumbersForTheLog})
