#include "agent/sleep.h"
#include "code/code.h"
#include "code/death.h"
#include "code/libraries.h"
#include "code/own_text.h"
#include "code/shown_text.h"
#include "fixture.h"
#include "os/attributes.h"
#include "os/next.h"
#include "os/sys.h"
#include "session/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <mdl/api.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

/* Of outer.c: opens libinner.so, which only the RUNPATH of its own library finds. */
char *outer(void);
void plugin_begins(void);
void plugin_ends(void);

enum { ROUNDS = 300 };

static void nothing(void) {}
static void (*on_begin)(void) = nothing;
static void (*on_end)(void) = nothing;

EXPORT void plugin_begins(void) { on_begin(); }
EXPORT void plugin_ends(void) { on_end(); }

static bool is_listed(const char *name) {
  static struct mdl_image images[64];
  int64_t count = libraries_list(images, 64);
  CHECK(count < 64);
  for (int64_t i = 0; i < count; i++) {
    if (strstr(images[i].path, name)) {
      return true;
    }
  }
  return false;
}

/* ---- an agent that only follows libraries */

static _Atomic bool stop_following;
static _Atomic uint32_t rounds; /* in which libraries had been opened */
static const char *expected;    /* a library that must be completely there then */

static void *follow(void *unused) {
  is_agent_thread = true;
  uint64_t seen = 0;
  while (!stop_following) {
    uint64_t now = (uint64_t)agent_sleep(1000000);
    if (now != seen && libraries_hold()) {
      usleep(1000); /* an opener that does not wait would be noticed */
      CHECK(!expected || is_listed(expected));
      seen = now;
      rounds++;
      libraries_release();
      libraries_followed(seen);
    }
  }
  return unused;
}

static void wait_for_followers(void) {
  create_session();
  options.wait = true;
  pthread_t thread;
  CHECK_EQUAL(libraries_hold(), 1);
  libraries_release();
  libraries_followed(0);
  pthread_create(&thread, NULL, follow, NULL);
  libraries_begin();
}

static void shouldOpenWhatTheCallersRunpathLeadsToAndWaitForItsProbes(void) {
  wait_for_followers();
  expected = "libinner.so";
  CHECK(!is_listed(expected));
  CHECK_TEXT(outer(), "found");
  CHECK_EQUAL(rounds, 1);
  CHECK_TEXT(outer(), "found");
  CHECK_EQUAL(rounds, 1); /* it was there already */
}

static void shouldOpenAsWithoutAnAgent(void) {
  wait_for_followers();
  void *program = dlopen(NULL, RTLD_NOW);
  CHECK(program && dlsym(program, "plugin_begins") == (void *)plugin_begins);
  CHECK(dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD) == NULL);
  CHECK(dlopen("libinner.so", RTLD_NOW) == NULL); /* not in this program's RUNPATH */
  CHECK(strstr(dlerror(), "libinner.so: cannot open") != NULL);
  CHECK(dlerror() == NULL);
  CHECK_EQUAL(rounds, 0);
  errno = 4711;
  void *library = dlopen(PLUGIN, RTLD_NOW);
  CHECK_EQUAL(errno, 4711);
  CHECK(library != NULL);
  CHECK_EQUAL(rounds, 1);
  int (*plugin)(void);
  *(void **)&plugin = dlsym(library, "plugin");
  CHECK_EQUAL(plugin(), 7);
  CHECK(dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD) == library);
  CHECK_EQUAL(rounds, 1);
  CHECK_EQUAL(dlclose(library), 0);
  CHECK_EQUAL(dlclose(library), 0);
  CHECK(!is_listed("libplugin.so"));
}

static int frames;

static void walk_stack(void) {
  void *addresses[64];
  int (*backtrace)(void **, int);
  *(void **)&backtrace = dlsym(RTLD_DEFAULT, "backtrace");
  frames = backtrace(addresses, 64);
}

static void shouldLetConstructorsWalkTheStack(void) {
  wait_for_followers();
  on_begin = walk_stack;
  CHECK(dlopen(PLUGIN, RTLD_NOW) != NULL);
  CHECK(frames > 2);
}

static void shouldGoOnWithoutAnAgentThatDoesNotCome(void) {
  create_session();
  options.wait = true;
  libraries_begin();
  uint64_t before = clock_nanos(CLOCK_MONOTONIC);
  CHECK(dlopen(PLUGIN, RTLD_NOW) != NULL);
  uint64_t took = clock_nanos(CLOCK_MONOTONIC) - before;
  CHECK(took > 9900000000 && took < 15000000000);
  agent_died("for the test's sake", NULL);
  CHECK_TEXT(outer(), "found"); /* a minute later without the death */
  CHECK(clock_nanos(CLOCK_MONOTONIC) - before < took + 500000000);
}

static void shouldNotWaitInForkedProcesses(void) {
  create_session();
  options.wait = true;
  libraries_begin();
  pid_t child = fork();
  if (child == 0) {
    uint64_t before = clock_nanos(CLOCK_MONOTONIC);
    CHECK(dlopen(PLUGIN, RTLD_NOW) != NULL);
    CHECK(clock_nanos(CLOCK_MONOTONIC) - before < 500000000);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(session->forks, 1);
}

/* ---- held images */

static void *library;
static _Atomic bool closes, is_closed;

static void *close_library(void *unused) {
  closes = true;
  errno = 4711;
  CHECK_EQUAL(dlclose(library), 0);
  CHECK_EQUAL(errno, 4711);
  is_closed = true;
  return unused;
}

static void shouldCloseNothingThatIsHeld(void) {
  create_session();
  pthread_t thread;
  library = dlopen(PLUGIN, RTLD_NOW);
  CHECK_EQUAL(libraries_hold(), 1);
  pthread_create(&thread, NULL, close_library, NULL);
  while (!closes) {
  }
  usleep(50000);
  CHECK(is_listed("libplugin.so"));
  CHECK(!is_closed);
  libraries_release();
  pthread_join(thread, NULL);
  CHECK(!is_listed("libplugin.so"));
}

static void hold_meanwhile(void) { CHECK_EQUAL(libraries_hold(), 0); }

static void shouldHoldNothingThatIsBeingClosed(void) {
  create_session();
  library = dlopen(PLUGIN, RTLD_NOW);
  on_end = hold_meanwhile;
  CHECK_EQUAL(dlclose(library), 0);
  CHECK_EQUAL(libraries_hold(), 1);
}

static void shouldReplaceTextOnlyWhileNothingHasGone(void) {
  create_session();
  library = dlopen(PLUGIN, RTLD_NOW);
  void *other = dlopen(INNER, RTLD_NOW);
  int (*plugin)(void);
  *(void **)&plugin = dlsym(library, "plugin");
  uint64_t page = (uintptr_t)dlsym(library, "plugin") & ~4095ULL;
  struct mdl_text text = {page, 4096, 0, 0};
  CHECK_EQUAL(libraries_copy(&text), 0);
  uint8_t *copy = memmem((void *)text.alias, 4096, "\xb8\x07\0\0\0", 5); /* mov $7, %eax */
  CHECK(copy != NULL);
  copy[1] = 8;
  CHECK_EQUAL(libraries_show(&text, 1), -EPERM); /* nothing is held */
  CHECK_EQUAL(libraries_hold(), 1);
  next()->dlclose(other); /* as libc itself closes */
  CHECK_EQUAL(libraries_show(&text, 1), -ESTALE);
  CHECK_EQUAL(plugin(), 7);
  libraries_release();
  CHECK_EQUAL(libraries_hold(), 1);
  CHECK_EQUAL(libraries_show(&text, 1), 0);
  CHECK_EQUAL(plugin(), 8);
  libraries_release();
  dlclose(library);
  library = dlopen(PLUGIN, RTLD_NOW);
  *(void **)&plugin = dlsym(library, "plugin");
  CHECK_EQUAL(plugin(), 7);
  code_store((uint64_t)(copy + 1), 9, 1); /* to the alias of the closed library: seen by nobody */
  CHECK_EQUAL(plugin(), 7);
}

/* The page with plugin(), copied so that the copy returns 8. */
static struct mdl_text copy_of_plugin(int (**plugin)(void)) {
  library = dlopen(PLUGIN, RTLD_NOW);
  *(void **)plugin = dlsym(library, "plugin");
  struct mdl_text text = {(uintptr_t)dlsym(library, "plugin") & ~4095ULL, 4096, 0, 0};
  CHECK_EQUAL(libraries_copy(&text), 0);
  uint8_t *copy = memmem((void *)text.alias, 4096, "\xb8\x07\0\0\0", 5); /* mov $7, %eax */
  CHECK(copy != NULL);
  copy[1] = 8;
  return text;
}

static void map_anonymous_over(const struct mdl_text *text) {
  static char bytes[4096];
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  memcpy(bytes, (const void *)text->start, sizeof bytes);
  CHECK(mmap((void *)text->start, sizeof bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED);
  memcpy((void *)text->start, bytes, sizeof bytes);
  CHECK_EQUAL(mprotect((void *)text->start, sizeof bytes, PROT_READ | PROT_EXEC), 0);
}

static void show_in_vain(struct mdl_text *text, int (*plugin)(void)) {
  int before = plugin();
  CHECK_EQUAL(libraries_hold(), 1);
  CHECK_EQUAL(libraries_show(text, 1), 0);
  libraries_release();
  CHECK_EQUAL(text->mark, 0);
  CHECK_EQUAL(plugin(), before);
}

static void shouldNotReplaceMemoryThatTheProgramHasPutThere(void) {
  create_session();
  int (*plugin)(void);
  struct mdl_text text = copy_of_plugin(&plugin);
  map_anonymous_over(&text);
  show_in_vain(&text, plugin);
  text.alias = 0;
  CHECK_EQUAL(libraries_copy(&text), -ETXTBSY);
}

static void shouldNotReplaceTextThatTheProgramMayWriteTo(void) {
  create_session();
  int (*plugin)(void);
  struct mdl_text text = copy_of_plugin(&plugin);
  CHECK_EQUAL(mprotect((void *)text.start, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  struct mdl_text writable = text;
  show_in_vain(&writable, plugin);
  CHECK_EQUAL(mprotect((void *)text.start, 4096, PROT_READ | PROT_EXEC), 0);
  CHECK_EQUAL(libraries_hold(), 1);
  CHECK_EQUAL(libraries_show(&text, 1), 0);
  CHECK(text.mark != 0);
  CHECK_EQUAL(plugin(), 8);
}

static void shouldNotTakeBackWhatTheProgramHasWrittenToItsText(void) {
  create_session();
  int (*plugin)(void);
  struct mdl_text text = copy_of_plugin(&plugin);
  uint8_t *constant = memmem((void *)text.start, 4096, "\xb8\x07\0\0\0", 5);
  CHECK_EQUAL(mprotect((void *)text.start, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  constant[1] = 9;
  CHECK_EQUAL(mprotect((void *)text.start, 4096, PROT_READ | PROT_EXEC), 0);
  CHECK_EQUAL(plugin(), 9);
  show_in_vain(&text, plugin);
}

static void check_in_child(void (*check)(void)) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    check();
    _exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

static int (*replaced)(void);

static void take_all_back(void) {
  CHECK_EQUAL(replaced(), 8);
  CHECK(shown_text_take_back());
  CHECK_EQUAL(replaced(), 7);
  CHECK(own_text_mark((uintptr_t)replaced & ~4095ULL, 4096, (const void *)((uintptr_t)replaced & ~4095ULL)) != 0);
}

static void shouldTakeReplacedTextBackInAForkedChild(void) {
  create_session();
  struct mdl_text text = copy_of_plugin(&replaced);
  CHECK_EQUAL(libraries_hold(), 1);
  CHECK_EQUAL(libraries_show(&text, 1), 0);
  libraries_release();
  check_in_child(take_all_back);
  CHECK_EQUAL(replaced(), 8);
}

static struct mdl_text own_memory;

static void leave_own_memory(void) {
  map_anonymous_over(&own_memory);
  CHECK(shown_text_take_back());
  CHECK_EQUAL(own_text_mark(own_memory.start, own_memory.length, (const void *)own_memory.start), 0);
}

static void shouldLeaveWhatTheProgramHasPutInPlaceOfACopy(void) {
  create_session();
  own_memory = copy_of_plugin(&replaced);
  CHECK_EQUAL(libraries_hold(), 1);
  CHECK_EQUAL(libraries_show(&own_memory, 1), 0);
  libraries_release();
  check_in_child(leave_own_memory);
}

static void *open_too(void *unused) {
  CHECK(dlopen(PLUGIN, RTLD_NOW) != NULL);
  CHECK(rounds > 0);
  return unused;
}

static void shouldWaitForWhatAnotherThreadHasLoaded(void) {
  wait_for_followers();
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], NULL, open_too, NULL);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
}

static void open_another(void) {
  expected = "libinner.so";
  void *inner = dlopen(INNER, RTLD_NOW);
  CHECK(inner != NULL);
  CHECK_EQUAL(rounds, 1);
  CHECK_EQUAL(dlclose(inner), 0);
  expected = NULL;
}

static void shouldLetConstructorsOpenAndCloseWhileTheyAreAwaited(void) {
  wait_for_followers();
  on_begin = open_another;
  CHECK(dlopen(PLUGIN, RTLD_NOW) != NULL);
  CHECK_EQUAL(rounds, 1); /* it was listed when the agent looked */
}

static _Atomic bool stop_cycling;

static void *open_and_close(void *unused) {
  while (!stop_cycling) {
    void *mine = dlopen(PLUGIN, RTLD_NOW);
    CHECK(mine != NULL);
    usleep(50);
    CHECK_EQUAL(dlclose(mine), 0);
  }
  return unused;
}

/* Held images are read completely. */
static void shouldKeepHeldImagesReadableWhileOthersOpenAndClose(void) {
  static struct mdl_image images[64];
  create_session();
  pthread_t thread;
  pthread_create(&thread, NULL, open_and_close, NULL);
  int seen = 0;
  volatile uint8_t sum = 0;
  while (seen < ROUNDS) {
    if (!libraries_hold()) {
      continue;
    }
    int64_t count = libraries_list(images, 64);
    usleep(100); /* long enough for a closer that does not wait */
    for (int64_t i = 0; i < count; i++) {
      if (strstr(images[i].path, "libplugin.so")) {
        const ElfW(Phdr) *headers = (const ElfW(Phdr) *)images[i].headers;
        for (uint32_t h = 0; h < images[i].count; h++) {
          for (uint64_t at = 0; headers[h].p_type == PT_LOAD && at < headers[h].p_filesz; at += 64) {
            sum = (uint8_t)(sum + *(const uint8_t *)(images[i].bias + headers[h].p_vaddr + at));
          }
        }
        seen++;
      }
    }
    libraries_release();
    sched_yield();
  }
  stop_cycling = true;
  pthread_join(thread, NULL);
}

static _Atomic bool is_awake;

static void *sleep_long(void *unused) {
  agent_sleep(10000000000u);
  is_awake = true;
  return unused;
}

static uint64_t await_change_of_clock(uint64_t seen) {
  uint64_t now;
  while ((now = __atomic_load_n(&session->now_mono_nanos, __ATOMIC_RELAXED)) == seen && !is_awake) {
    usleep(1000);
  }
  return now;
}

static void shouldKeepTheClockWhileItSleeps(void) {
  create_session();
  uint64_t before = session->now_mono_nanos;
  pthread_t thread;
  pthread_create(&thread, NULL, sleep_long, NULL);
  uint64_t first = await_change_of_clock(before);
  uint64_t second = await_change_of_clock(first);
  CHECK(!is_awake && before < first && first < second && second <= clock_nanos(CLOCK_MONOTONIC));
}

TESTS({"shouldOpenWhatTheCallersRunpathLeadsToAndWaitForItsProbes",
       shouldOpenWhatTheCallersRunpathLeadsToAndWaitForItsProbes},
      {"shouldOpenAsWithoutAnAgent", shouldOpenAsWithoutAnAgent},
      {"shouldLetConstructorsWalkTheStack", shouldLetConstructorsWalkTheStack},
      {"shouldGoOnWithoutAnAgentThatDoesNotCome", shouldGoOnWithoutAnAgentThatDoesNotCome},
      {"shouldNotWaitInForkedProcesses", shouldNotWaitInForkedProcesses},
      {"shouldCloseNothingThatIsHeld", shouldCloseNothingThatIsHeld},
      {"shouldHoldNothingThatIsBeingClosed", shouldHoldNothingThatIsBeingClosed},
      {"shouldReplaceTextOnlyWhileNothingHasGone", shouldReplaceTextOnlyWhileNothingHasGone},
      {"shouldNotReplaceMemoryThatTheProgramHasPutThere", shouldNotReplaceMemoryThatTheProgramHasPutThere},
      {"shouldNotReplaceTextThatTheProgramMayWriteTo", shouldNotReplaceTextThatTheProgramMayWriteTo},
      {"shouldNotTakeBackWhatTheProgramHasWrittenToItsText", shouldNotTakeBackWhatTheProgramHasWrittenToItsText},
      {"shouldTakeReplacedTextBackInAForkedChild", shouldTakeReplacedTextBackInAForkedChild},
      {"shouldLeaveWhatTheProgramHasPutInPlaceOfACopy", shouldLeaveWhatTheProgramHasPutInPlaceOfACopy},
      {"shouldWaitForWhatAnotherThreadHasLoaded", shouldWaitForWhatAnotherThreadHasLoaded},
      {"shouldLetConstructorsOpenAndCloseWhileTheyAreAwaited", shouldLetConstructorsOpenAndCloseWhileTheyAreAwaited},
      {"shouldKeepTheClockWhileItSleeps", shouldKeepTheClockWhileItSleeps},
      {"shouldKeepHeldImagesReadableWhileOthersOpenAndClose", shouldKeepHeldImagesReadableWhileOthersOpenAndClose})
