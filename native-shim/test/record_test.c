#include "code/code.h"
#include "code/death.h"
#include "code/toggle.h"
#include "fixture.h"
#include "os/thread_end.h"
#include "record/calls.h"
#include "record/frames.h"
#include "record/mode.h"
#include "record/record.h"
#include "record/slow_calls.h"
#include "record/thread.h"
#include "record/lease.h"
#include "session/memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <x86intrin.h>

/* Keys as on a real stack: a callee's is lower. */
#define KEY(level) (0x7fff00000000ULL - 0x100 * (uint64_t)(level))
#define CALL_SITE 0x401234ULL

static void enter(int function, uint64_t key) { record_entry_slow(entry_of(function), address_of(function), key); }
static void leave_from(int function, uint64_t key, uint64_t call_site) {
  record_exit_slow(exit_of(function), address_of(function), key, call_site);
}
static void leave(int function, uint64_t key) { leave_from(function, key, CALL_SITE); }
static void sample_enter(int function, uint64_t key) {
  record_sample_entry_slow(entry_of(function), address_of(function), key);
}
static void sample_leave(int function, uint64_t key) {
  record_sample_exit_slow(exit_of(function), address_of(function), key, CALL_SITE);
}

static struct mdl_row *row(int function) {
  return ((struct mdl_row **)mdl_self->rows)[function];
}

static uint64_t count(int function) { return row(function) ? row(function)->count : 0; }

static uint64_t calls(int function) { return ((uint64_t *)mdl_self->calls)[function]; }

static uint64_t histogram_sum(const struct mdl_row *of) {
  uint64_t sum = 0;
  for (uint32_t chunk = 0; chunk < MDL_ROW_CHUNKS; chunk++) {
    const uint64_t *slots = (const uint64_t *)of->chunks[chunk];
    for (uint32_t slot = 0; slots && slot < MDL_CHUNK_SLOTS; slot++) {
      sum += slots[slot];
    }
  }
  return sum;
}

static void shouldAttachOncePerThreadAndKeepErrno(void) {
  fixture(true);
  CHECK(mdl_self == NULL);
  errno = 42;
  enter(0, KEY(1));
  CHECK_EQUAL(errno, 42);
  struct mdl_thread *first = mdl_self;
  CHECK(first != NULL);
  CHECK_EQUAL(first->tid, gettid());
  CHECK_EQUAL(first->pid, getpid());
  CHECK_EQUAL(first->state, MDL_THREAD_LIVE);
  CHECK_EQUAL(session->threads, (uintptr_t)first);
  CHECK_EQUAL(depth(), 1);
  leave(0, KEY(1));
  enter(0, KEY(1));
  CHECK(mdl_self == first);
  CHECK_EQUAL(session->thread_count, 1);
}

static void *attach_and_end(void *unused) {
  (void)unused;
  thread_end_watch();
  enter(1, KEY(1));
  enter(2, KEY(2));
  return mdl_self;
}

static void shouldReuseBlockOfEndedThread(void) {
  fixture(true);
  pthread_t thread;
  void *first, *second;
  pthread_create(&thread, NULL, attach_and_end, NULL);
  pthread_join(thread, &first);
  CHECK_EQUAL(((struct mdl_thread *)first)->state, MDL_THREAD_FREE);
  CHECK_EQUAL(((struct mdl_thread *)first)->unmatched, 2);
  pthread_create(&thread, NULL, attach_and_end, NULL);
  pthread_join(thread, &second);
  CHECK(first == second);
  CHECK_EQUAL(session->thread_count, 1);
}

static void shouldRecordDurationsAndSelfTimeOfNestedCalls(void) {
  fixture(true);
  enter(0, KEY(1));
  enter(1, KEY(2));
  enter(2, KEY(3));
  leave(2, KEY(3));
  leave(1, KEY(2));
  leave(0, KEY(1));
  CHECK_EQUAL(depth(), 0);
  for (int i = 0; i < 3; i++) {
    CHECK_EQUAL(count(i), 1);
    CHECK_EQUAL(row(i)->function, i);
    CHECK_EQUAL(row(i)->min, row(i)->max);
    CHECK_EQUAL(row(i)->total, row(i)->max);
    CHECK_EQUAL(histogram_sum(row(i)), 1);
  }
  CHECK_EQUAL(row(0)->self, row(0)->total - row(1)->total);
  CHECK_EQUAL(row(1)->self, row(1)->total - row(2)->total);
  CHECK_EQUAL(row(2)->self, row(2)->total);
}

static void shouldCountEachCallOfARecursion(void) {
  fixture(true);
  for (int i = 1; i <= 1000; i++) {
    enter(3, KEY(i));
  }
  CHECK_EQUAL(depth(), 1000);
  for (int i = 1000; i >= 1; i--) {
    leave(3, KEY(i));
  }
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(count(3), 1000);
  CHECK_EQUAL(histogram_sum(row(3)), 1000);
  CHECK_EQUAL(mdl_self->unmatched, 0);
}

static void shouldCountEntriesBeyondTheShadowStackAndRecover(void) {
  enum { FRAMES = 131072 };
  fixture(true);
  for (int i = 1; i <= FRAMES + 5; i++) {
    enter(3, KEY(i));
  }
  CHECK_EQUAL(mdl_self->sp, mdl_self->sp_limit);
  CHECK_EQUAL(mdl_self->overflow, 5);
  CHECK_EQUAL(calls(3), FRAMES + 5);
  for (int i = FRAMES + 5; i >= 1; i--) {
    leave(3, KEY(i));
  }
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(count(3), FRAMES);
}

static void shouldDiscardFramesThatLongjmpLeft(void) {
  fixture(true);
  enter(0, KEY(1));
  enter(1, KEY(2));
  enter(2, KEY(3));
  /* longjmp to the first, which calls again and returns */
  enter(3, KEY(2));
  leave(3, KEY(2));
  leave(0, KEY(1));
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(count(0), 1);
  CHECK_EQUAL(count(1), 0);
  CHECK_EQUAL(count(2), 0);
  CHECK_EQUAL(count(3), 1);
  CHECK_EQUAL(mdl_self->unmatched, 2);
}

static void shouldCloseInlinedCallsOfOneFrameByTheirFunction(void) {
  fixture(true);
  enter(0, KEY(1));
  enter(1, KEY(1)); /* inlined into the first */
  leave(1, KEY(1));
  enter(2, KEY(1)); /* inlined, left without a probe */
  leave(0, KEY(1));
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(count(0), 1);
  CHECK_EQUAL(count(1), 1);
  CHECK_EQUAL(count(2), 0);
  CHECK_EQUAL(mdl_self->unmatched, 1);
}

static void shouldIgnoreExitsThatNoEntryBelongsTo(void) {
  fixture(true);
  leave(0, KEY(1));
  CHECK(mdl_self == NULL);
  enter(0, KEY(5));
  leave(1, KEY(5));
  leave(1, KEY(6));
  leave(1, KEY(5) + (64ULL << 20)); /* another stack */
  CHECK_EQUAL(depth(), 1);
  leave(0, KEY(5));
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(count(0), 1);
  CHECK_EQUAL(count(1), 0);
}

static void shouldLearnAnUnknownSitesFunctionFromItsFirstCall(void) {
  fixture(true);
  entry_of(4)->function = session->unknown_function;
  record_entry_slow(entry_of(4), address_of(5), KEY(1));
  CHECK_EQUAL(entry_of(4)->function, (uintptr_t)&functions[5]);
  CHECK_EQUAL(entry_of(4)->flags, 0);
  CHECK_EQUAL(session->learned, 1);
  leave(5, KEY(1));
  CHECK_EQUAL(count(5), 1);
  record_entry_slow(entry_of(4), 0x12345, KEY(1)); /* not in the table */
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(entry_of(4)->function, (uintptr_t)&functions[5]);
}

static void shouldRecordTheArgumentsFunctionWhereSeveralShareASite(void) {
  fixture(true);
  record_entry_slow(entry_of(4), address_of(6), KEY(1));
  leave(6, KEY(1));
  record_entry_slow(entry_of(4), address_of(4), KEY(1));
  leave(4, KEY(1));
  CHECK_EQUAL(count(4), 1);
  CHECK_EQUAL(count(6), 1);
  CHECK_EQUAL(entry_of(4)->flags, MDL_VARIES);
  CHECK_EQUAL(entry_of(4)->function, session->unknown_function); /* and stays: */
  record_entry_slow(entry_of(4), address_of(6), KEY(1));
  CHECK_EQUAL(entry_of(4)->function, session->unknown_function);
}

static void shouldPutDurationsIntoTheHistogramsSlots(void) {
  static const struct {
    uint64_t ticks;
    uint32_t index;
  } expected[] = {{0, 0},       {1, 1},      {255, 255},  {256, 256},   {257, 256},
                  {511, 383},   {512, 384},  {1000, 506}, {4095, 767},  {4096, 768},
                  {1ULL << 62, 6143}, {~0ULL, 6143}};
  fixture(true);
  enter(0, KEY(1));
  leave(0, KEY(1));
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    record_slow(&functions[1], expected[i].ticks, 0, 0, CALL_SITE, 0);
    uint64_t *chunk = (uint64_t *)row(1)->chunks[expected[i].index / MDL_CHUNK_SLOTS];
    CHECK(chunk != NULL);
    CHECK(chunk[expected[i].index % MDL_CHUNK_SLOTS] >= 1);
    CHECK_EQUAL(histogram_sum(row(1)), i + 1);
  }
  CHECK_EQUAL(row(1)->min, 0);
  CHECK(row(1)->max == ~0ULL);
}

/* Of all calls from `from`; the number of structures in `found`. */
static uint64_t calls_from(int function, uint64_t from, uint64_t *total, int *found) {
  const struct mdl_callers *callers = (const struct mdl_callers *)row(function)->callers;
  uint64_t sum = 0;
  *total = 0;
  *found = 0;
  for (uint32_t i = 0; i <= MDL_CALLER_LISTS; i++) {
    const struct mdl_caller *caller = (const struct mdl_caller *)(i < MDL_CALLER_LISTS ? callers->lists[i] : callers->others);
    for (; caller; caller = (const struct mdl_caller *)caller->next) {
      if (caller->from == from) {
        sum += caller->calls;
        *total += caller->total;
        ++*found;
      }
    }
  }
  return sum;
}

static void shouldCountCallsByThePlacesTheyReturnTo(void) {
  enum { PLACES = 40 };
  fixture(true);
  enter(0, KEY(1));
  leave(0, KEY(1)); /* from CALL_SITE */
  for (uint64_t place = 1; place <= PLACES; place++) {
    for (uint64_t call = 0; call < place; call++) {
      record_slow(&functions[0], 100 * place, 0, 0, 0x1000 + place, 0);
    }
  }
  uint64_t total;
  int found;
  uint64_t sum = calls_from(0, CALL_SITE, &total, &found), all = total;
  CHECK_EQUAL(sum, 1);
  for (uint64_t place = 1; place <= PLACES; place++) {
    CHECK_EQUAL(calls_from(0, 0x1000 + place, &total, &found), place);
    CHECK_EQUAL(total, 100 * place * place);
    CHECK_EQUAL(found, 1);
    sum += place;
    all += total;
  }
  CHECK_EQUAL(sum, row(0)->count);
  CHECK_EQUAL(all, row(0)->total);
  int announced = 0;
  for (const struct mdl_caller *new = (const struct mdl_caller *)session->new_callers; new;
       new = (const struct mdl_caller *)new->next_new) {
    CHECK_EQUAL(new->function, 0);
    CHECK_EQUAL(new->caller, 0);
    announced++;
  }
  CHECK_EQUAL(announced, PLACES + 1);
}

static void shouldCountCallsFromFurtherPlacesTogether(void) {
  enum { OTHERS = 5 };
  fixture(true);
  enter(0, KEY(1));
  leave(0, KEY(1));
  for (uint64_t i = 0; i < MDL_CALLER_LIST_MAX + OTHERS; i++) {
    record_slow(&functions[0], 10, 0, 0, 0x2000 + i * MDL_CALLER_LISTS, 0);
  }
  uint64_t total;
  int found;
  for (uint64_t i = 0; i < MDL_CALLER_LIST_MAX; i++) {
    CHECK_EQUAL(calls_from(0, 0x2000 + i * MDL_CALLER_LISTS, &total, &found), 1);
  }
  CHECK_EQUAL(calls_from(0, 0, &total, &found), OTHERS);
  CHECK_EQUAL(total, 10 * OTHERS);
}

static void shouldCountCallsThatFindNoMemory(void) {
  fixture(true);
  enter(0, KEY(1));
  leave(0, KEY(1));
  enter(1, KEY(1));
  session->limit = session->arena_next;
  leave(1, KEY(1));
  CHECK(row(1) == NULL);
  CHECK_EQUAL(mdl_self->refused, 1);
  /* a row without the chunk: the sums are still correct */
  record_slow(&functions[0], 1ULL << 40, 7, 0, CALL_SITE, 0);
  CHECK_EQUAL(count(0), 2);
  CHECK_EQUAL(row(0)->max, 1LL << 40);
  CHECK_EQUAL(mdl_self->refused, 2);
}

static void shouldMuteThreadsThatFindNoMemory(void) {
  fixture(true);
  session->limit = session->arena_next;
  enter(0, KEY(1));
  CHECK(mdl_self != NULL);
  CHECK_EQUAL(mdl_self->sp, mdl_self->sp_limit);
  CHECK_EQUAL(mdl_self->overflow, 0);
  leave(0, KEY(1));
  CHECK_EQUAL(session->threads_refused, 1);
  enter(0, KEY(1));
  CHECK_EQUAL(session->threads_refused, 1);
  CHECK_EQUAL(session->thread_count, 0);
}

static void shouldRecordNothingOnAgentThreads(void) {
  fixture(true);
  is_agent_thread = true;
  enter(0, KEY(1));
  leave(0, KEY(1));
  is_agent_thread = false; /* it could not exit */
  CHECK_EQUAL(session->thread_count, 0);
  CHECK_EQUAL(session->threads_refused, 0);
}

static void shouldGiveAForkedChildABlockOfItsOwn(void) {
  fixture(true);
  enter(0, KEY(1));
  struct mdl_thread *parents = mdl_self;
  pid_t child = fork();
  if (child == 0) {
    CHECK(mdl_self == NULL);
    leave(0, KEY(1));
    enter(1, KEY(2));
    CHECK(mdl_self != parents);
    CHECK_EQUAL(mdl_self->pid, getpid());
    leave(1, KEY(2));
    CHECK_EQUAL(count(1), 1);
    _exit(3);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK(mdl_self == parents);
  CHECK_EQUAL(depth(), 1);
  CHECK_EQUAL(session->thread_count, 2);
  CHECK_EQUAL(session->exit_status, -1);
  CHECK_EQUAL(session->state, MDL_STARTING);
  struct mdl_thread *childs = (struct mdl_thread *)session->threads;
  CHECK_EQUAL(childs->pid, child);
  CHECK_EQUAL(childs->state, MDL_THREAD_FREE);
  CHECK_EQUAL(((struct mdl_row **)childs->rows)[1]->count, 1); /* the parent reads what the child recorded */
}

/* ---- signal handlers at any instruction */

static volatile sig_atomic_t handled;

static void probed_handler(int signal_number) {
  (void)signal_number;
  uint64_t key = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  enter(7, key);
  handled++;
  leave(7, key);
}

static void shouldStayConsistentWhenHandlersWithProbesInterruptAnywhere(void) {
  fixture(true);
  struct sigaction action = {.sa_handler = probed_handler};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, NULL);
  uint64_t calls = 0;
  uint64_t base = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  while (handled < 5000) {
    for (int i = 0; i < 100; i++, calls++) {
      enter(0, base + 0x200);
      enter(1, base + 0x100);
      leave(1, base + 0x100);
      leave(0, base + 0x200);
    }
  }
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(mdl_self->unmatched, 0);
  CHECK_EQUAL(count(0), calls);
  CHECK_EQUAL(count(1), calls);
  CHECK_EQUAL(count(7), handled);
  CHECK_EQUAL(histogram_sum(row(0)), calls);
  CHECK_EQUAL(histogram_sum(row(7)), handled);
}

/* ---- sampled mode */

enum { TOLD = 10 };

static void set_mean(int function, uint32_t mean) {
  session->flags |= MDL_MIXED;
  functions[function].mean = mean;
  functions[function].weight = mean;
}

static void arm(int function, uint64_t ticks) {
  uint32_t index = (uint32_t)function;
  functions[function].remaining = TOLD;
  record_arm(&index, &ticks, 1);
}

/* A call that is timed by chance, and stands for the function's weight. */
static void enter_timed(int function, uint64_t key) {
  struct mdl_countdown *countdowns = (struct mdl_countdown *)record_thread()->countdowns;
  countdowns[function] = (struct mdl_countdown){.left = 1, .weight = functions[function].weight};
  sample_enter(function, key);
}

#define LONG_LEASE (1ULL << 40)

static void shouldArmExitsAndEntriesAndCountTheStores(void) {
  fixture(false);
  uint32_t indices[] = {1, 2};
  uint64_t leases[] = {LONG_LEASE, LONG_LEASE};
  CHECK_EQUAL(record_arm(indices, leases, 2), 4);
  CHECK_EQUAL(session->toggles, 4);
  CHECK_EQUAL(code[2], ENTRY_ON);
  CHECK_EQUAL(code[3], EXIT_ON);
  CHECK_EQUAL(code[0], OFF);
  CHECK_EQUAL(functions[1].state, MDL_SAMPLING);
  CHECK(functions[1].deadline > LONG_LEASE);
}

static void shouldLeaveExitsOffWhereCallsAreOnlyCounted(void) {
  fixture(false);
  session->flags |= MDL_COUNTS;
  arm(1, LONG_LEASE);
  CHECK_EQUAL(code[2], ENTRY_ON);
  CHECK_EQUAL(code[3], OFF);
  sample_enter(1, KEY(1));
  sample_enter(1, KEY(1));
  CHECK_EQUAL(calls(1), 2);
  CHECK_EQUAL(code[2], ENTRY_ON);
}

static void shouldCountTheFirstCallForCoverageAndSwitchTheProbeOff(void) {
  fixture(false);
  session->flags |= MDL_COUNTS | MDL_COVERAGE;
  arm(1, 0);
  arm(2, 0);
  CHECK_EQUAL(code[2], ENTRY_ON);
  sample_enter(1, KEY(1));
  CHECK_EQUAL(calls(1), 1);
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(code[2], OFF);
  CHECK_EQUAL(functions[1].state, MDL_EXPIRED);
  CHECK_EQUAL(code[4], ENTRY_ON);
  record_entry_expired(entry_of(2)); /* as machine code does */
  CHECK_EQUAL(calls(2), 1);
  CHECK_EQUAL(code[4], OFF);
  sample_enter(1, KEY(1)); /* a thread that was at the probe before it went off */
  CHECK_EQUAL(calls(1), 2);
  CHECK_EQUAL(code[2], OFF);
}

static void shouldOnlyCountCallsOfWhichNoneIsTimed(void) {
  fixture(false);
  set_mean(1, 0);
  arm(1, LONG_LEASE);
  for (int i = 0; i < 25; i++) {
    sample_enter(1, KEY(2));
    CHECK_EQUAL(depth(), 0);
    sample_leave(1, KEY(2));
  }
  CHECK_EQUAL(calls(1), 25);
  CHECK_EQUAL(functions[1].open, 0);
  CHECK_EQUAL(mdl_self->head, 0);
  CHECK_EQUAL(mdl_self->unmatched, 0);
  CHECK(row(1) == NULL);
}

static void *record_and_end(void *unused) {
  (void)unused;
  thread_end_watch();
  sample_enter(1, KEY(1));
  sample_leave(1, KEY(1));
  return mdl_self;
}

static void shouldKnowWhichRecordsAreOfThreadsThatHaveEnded(void) {
  fixture(false);
  set_mean(1, 1);
  arm(1, LONG_LEASE);
  struct mdl_thread *block = NULL;
  for (uint64_t ended = 0; ended < 3; ended++) {
    pthread_t thread;
    void *used;
    pthread_create(&thread, NULL, record_and_end, NULL);
    pthread_join(thread, &used);
    CHECK(!block || block == used);
    block = used;
    CHECK_EQUAL(block->first, ended);
    CHECK_EQUAL(block->head, ended + 1);
  }
}

static void shouldRecordEveryCallOfAChosenFunctionWhileOthersAreSampled(void) {
  fixture(false);
  set_mean(0, 2);
  set_mean(1, 1);
  arm(0, LONG_LEASE);
  uint64_t start = __rdtsc();
  arm(1, LONG_LEASE);
  enter_timed(0, KEY(1));
  for (int i = 0; i < 25; i++) {
    sample_enter(1, KEY(2));
    sample_leave(1, KEY(2));
  }
  sample_leave(0, KEY(1));
  CHECK_EQUAL(calls(1), 25);
  CHECK_EQUAL(count(1), 25);
  CHECK_EQUAL(histogram_sum(row(1)), 25);
  CHECK_EQUAL(count(0), 2);
  CHECK_EQUAL(functions[1].open, 0);
  CHECK_EQUAL(functions[0].open, 0);
  CHECK_EQUAL(functions[1].state, MDL_SAMPLING);
  /* Ten have reported their callers, and so has the one timed by chance. */
  CHECK_EQUAL(mdl_self->head, 11);
  const struct mdl_record *records = (const struct mdl_record *)mdl_self->ring;
  uint64_t told = 0;
  for (uint32_t i = 0; i < 10; i++) {
    CHECK_EQUAL(records[i].function, 1);
    CHECK_EQUAL(records[i].caller, CALL_SITE);
    CHECK(records[i].start >= start);
    told += records[i].duration;
  }
  CHECK(told < row(1)->total);
  CHECK_EQUAL(records[10].function, 0);
}

static void shouldDiscardFramesOfChosenFunctionsAndOfOthers(void) {
  fixture(false);
  set_mean(0, 2);
  set_mean(1, 1);
  set_mean(2, 2);
  arm(0, LONG_LEASE);
  arm(1, LONG_LEASE);
  arm(2, LONG_LEASE);
  enter_timed(0, KEY(1));
  sample_enter(1, KEY(2));
  enter_timed(2, KEY(3));
  CHECK_EQUAL(functions[1].open, 0);
  sample_leave(0, KEY(1)); /* after a longjmp */
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(functions[0].open, 0);
  CHECK_EQUAL(functions[1].open, 0);
  CHECK_EQUAL(functions[2].open, 0);
  CHECK_EQUAL(mdl_self->unmatched, 2);
  CHECK_EQUAL(count(1), 0);
}

static void shouldSwitchAChosenFunctionOff(void) {
  fixture(false);
  session->flags = MDL_MIXED;
  functions[0].mean = 1;
  arm(0, LONG_LEASE);
  sample_enter(0, KEY(1));
  sample_leave(0, KEY(1));
  uint32_t index = 0;
  CHECK_EQUAL(record_disarm(&index, 1), 1);
  CHECK_EQUAL(code[0], OFF);
  sample_leave(0, KEY(2)); /* by a caller whose entry was not seen */
  CHECK_EQUAL(code[1], OFF);
  CHECK_EQUAL(count(0), 1);
}

/* At one of its sites; others are on, and its exits may be off. */
static void shouldOpenNoFrameOfAChosenFunctionThatWasStopped(void) {
  fixture(false);
  session->flags = MDL_MIXED;
  functions[1].mean = 1;
  arm(1, LONG_LEASE);
  functions[1].state = MDL_EXPIRED;
  sample_enter(1, KEY(1));
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(calls(1), 1);
  sample_leave(1, KEY(1));
  CHECK_EQUAL(count(1), 0);
  CHECK_EQUAL(mdl_self->unmatched, 0);
}

/* A thousand calls are timed, give or take: the bounds are more than ten standard deviations away. */
static void shouldTimeCallsByChanceAndCountAll(void) {
  fixture(false);
  set_mean(1, 100);
  arm(1, LONG_LEASE);
  for (int i = 0; i < 100000; i++) {
    sample_enter(1, KEY(1));
    sample_leave(1, KEY(1));
  }
  CHECK_EQUAL(calls(1), 100000);
  uint64_t timed = row(1)->samples;
  CHECK(timed > 600 && timed < 1500);
  CHECK_EQUAL(count(1), 100 * timed);
  CHECK_EQUAL(histogram_sum(row(1)), 100 * timed);
  CHECK_EQUAL(row(1)->weight, 100);
  CHECK_EQUAL(functions[1].open, 0);
  CHECK_EQUAL(mdl_self->head, 10); /* have reported their callers */
  CHECK_EQUAL(depth(), 0);
}

/* The clock's addition to a call is not part of its time, and none of it is part of its caller's time. */
static void shouldTakeOffWhatReadingTheClockTakes(void) {
  fixture(true);
  session->clock_ticks = 1u << 31;
  enter(0, KEY(1));
  enter(1, KEY(2));
  leave(1, KEY(2));
  leave(0, KEY(1));
  CHECK_EQUAL(row(1)->total, 0);
  CHECK_EQUAL(row(1)->count, 1);
  CHECK_EQUAL(row(0)->total, 0);
  CHECK_EQUAL(row(0)->count, 1);
  session->clock_ticks = 0;
}

/* For all calls in progress; exact mode subtracts something else. */
static void shouldTakeOffWhatRecordingOthersTook(void) {
  fixture(false);
  for (int i = 0; i < 3; i++) {
    set_mean(i, 1);
    arm(i, LONG_LEASE);
    sample_enter(i, KEY(i + 1));
  }
  sample_leave(2, KEY(3));
  const struct mdl_frame *inner = (const struct mdl_frame *)mdl_self->sp - 1;
  CHECK(mdl_self->taken > inner->call.before); /* the third call was recorded here */
  uint64_t before = mdl_self->taken;
  record_leaves_out(mdl_self, 1u << 31);
  CHECK_EQUAL(mdl_self->taken, before + (1u << 31));
  sample_leave(1, KEY(2));
  sample_leave(0, KEY(1));
  CHECK(row(2)->total > 0);
  CHECK_EQUAL(row(1)->total, 0);
  CHECK_EQUAL(row(0)->total, 0);
  CHECK_EQUAL(row(0)->count + row(1)->count, 2);

  fixture(true);
  before = mdl_self->taken;
  record_leaves_out(mdl_self, 1u << 31);
  CHECK_EQUAL(mdl_self->taken, before);
}

/* Nobody would look at it any more. */
static void shouldEndAChosenFunctionWhenTheAgentHasGivenNoSignOfLife(void) {
  fixture(false);
  for (uint32_t mean = 1; mean <= 2; mean++) {
    set_mean(1, mean);
    arm(1, LONG_LEASE);
    sample_enter(1, KEY(1));
    sample_leave(1, KEY(1));
    functions[1].deadline = __rdtsc() - 1;
    sample_enter(1, KEY(1));
    CHECK_EQUAL(calls(1), mean);
    CHECK_EQUAL(functions[1].state, MDL_EXPIRED);
    CHECK_EQUAL(functions[1].whole, 0);
    CHECK_EQUAL(session->expired, mean);
  }
}

/* The numbers of calls between timed ones have the frequencies of a geometric distribution, within ten
 * standard deviations. */
static void shouldTimeACallWhateverWasTimedBefore(void) {
  fixture(false);
  set_mean(1, 4);
  arm(1, LONG_LEASE);
  int intervals[4] = {0};
  int last = 0;
  for (int i = 1; i <= 100000; i++) {
    sample_enter(1, KEY(1));
    bool timed = depth() == 1;
    sample_leave(1, KEY(1));
    if (timed) {
      int interval = i - last;
      intervals[interval < 4 ? interval : 0]++;
      last = i;
    }
  }
  int all = intervals[0] + intervals[1] + intervals[2] + intervals[3];
  CHECK(all > 23500 && all < 26500);
  CHECK(intervals[1] > all * 0.22 && intervals[1] < all * 0.28);
  CHECK(intervals[2] > all * 0.16 && intervals[2] < all * 0.22);
  CHECK(intervals[3] > all * 0.11 && intervals[3] < all * 0.17);
}

static void shouldLetTheFrameSayWhatACallStandsForWhileTheMeanChanges(void) {
  fixture(false);
  set_mean(1, 7);
  arm(1, LONG_LEASE);
  enter_timed(1, KEY(1));
  CHECK_EQUAL(functions[1].open, 1);
  functions[1].mean = 1;
  sample_enter(1, KEY(2));
  CHECK_EQUAL(functions[1].open, 1);
  functions[1].mean = 0;
  sample_leave(1, KEY(2)); /* began as exact */
  CHECK_EQUAL(count(1), 1);
  CHECK_EQUAL(functions[1].open, 1);
  set_mean(1, 1);
  functions[1].remaining = 0;
  sample_leave(1, KEY(1)); /* began as one of seven */
  CHECK_EQUAL(functions[1].open, 0);
  CHECK_EQUAL(count(1), 1 + 7);
  const struct mdl_record *records = (const struct mdl_record *)mdl_self->ring;
  CHECK_EQUAL(records[0].function, 1);
  CHECK_EQUAL(mdl_self->head, 1);
}

static void shouldForgetAnIntervalOfAnotherMean(void) {
  fixture(false);
  set_mean(1, 1u << 24);
  arm(1, LONG_LEASE);
  sample_enter(1, KEY(1));
  struct mdl_countdown *countdown = (struct mdl_countdown *)mdl_self->countdowns + 1;
  CHECK_EQUAL(countdown->weight, 1u << 24);
  CHECK(countdown->left > 0);
  set_mean(1, 2);
  *countdown = (struct mdl_countdown){0}; /* the agent */
  sample_enter(1, KEY(1));
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(countdown->weight, 2);
  CHECK(countdown->left >= 1 && countdown->left < 100);
  CHECK_EQUAL(calls(1), 2);
}

static void sleep_millis(long millis) { nanosleep(&(struct timespec){0, millis * 1000000}, NULL); }

static void shouldTakeCpuTimeForDurationsAndNotWhatPasses(void) {
  fixture(true);
  session->flags |= MDL_CPU_TIME;
  enter(0, KEY(1));
  enter(1, KEY(2));
  sleep_millis(50);
  leave(1, KEY(2));
  uint64_t begin = clock_nanos(CLOCK_THREAD_CPUTIME_ID);
  while (clock_nanos(CLOCK_THREAD_CPUTIME_ID) - begin < 5000000) {
  }
  leave(0, KEY(1));
  CHECK(row(1)->total < 5000000);
  CHECK(row(0)->total >= 5000000);
  CHECK(row(0)->total < 50000000);
  CHECK_EQUAL(row(0)->self, row(0)->total - row(1)->total);
}

static void shouldSayWhenASampledCallBeganThatIsMeasuredByCpuTime(void) {
  fixture(false);
  session->flags |= MDL_CPU_TIME;
  set_mean(0, 1);
  arm(0, LONG_LEASE);
  uint64_t before = __rdtsc();
  sample_enter(0, KEY(1));
  uint64_t entered = __rdtsc();
  sleep_millis(50);
  sample_leave(0, KEY(1));
  const struct mdl_record *record = (const struct mdl_record *)mdl_self->ring;
  CHECK(record->start >= before);
  CHECK(record->start <= entered);
  CHECK(record->duration < 5000000);
}

static void shouldTakeNoTimeWhereTheThreadsTimeBeganAnew(void) {
  fixture(true);
  session->flags |= MDL_CPU_TIME;
  enter(0, KEY(1));
  ((struct mdl_frame *)mdl_self->sp - 1)->call.start = ~0ULL >> 1; /* as after a fork */
  leave(0, KEY(1));
  CHECK_EQUAL(count(0), 1);
  CHECK_EQUAL(row(0)->total, 0);
}

static void shouldNotAskForCpuTimeWhenTheAgentHasLeft(void) {
  fixture(true);
  session->flags |= MDL_CPU_TIME;
  enter(0, KEY(1));
  agent_died("a test", NULL);
  CHECK_EQUAL(record_now(), 0);
  leave(0, KEY(1));
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(count(0), 0);
}

static void shouldSayWhereACallWasInlined(void) {
  fixture(false);
  struct mdl_site *inlined = exit_of(1);
  inlined->owner = (uintptr_t)&functions[0];
  inlined->address = address_of(0) + 8;
  set_mean(0, 1);
  set_mean(1, 1);
  arm(0, LONG_LEASE);
  arm(1, LONG_LEASE);
  sample_enter(0, KEY(1));
  sample_enter(1, KEY(1));
  sample_leave(1, KEY(1));
  sample_leave(0, KEY(1));
  const struct mdl_record *records = (const struct mdl_record *)mdl_self->ring;
  CHECK_EQUAL(records[0].function, 1);
  CHECK_EQUAL(records[0].caller, address_of(0) + 8);
  CHECK_EQUAL(records[1].function, 0);
  CHECK_EQUAL(records[1].caller, CALL_SITE);
}

static void shouldDropRecordsWhenTheRingIsFullAndGoOnWhenDrained(void) {
  enum { RECORDS = 8192, MARGIN = 64 };
  fixture(false);
  set_mean(0, 1);
  arm(0, LONG_LEASE);
  functions[0].remaining = INT32_MAX;
  for (int i = 0; i < RECORDS; i++) {
    sample_enter(0, KEY(1));
    sample_leave(0, KEY(1));
  }
  CHECK_EQUAL(mdl_self->head, RECORDS - MARGIN);
  CHECK_EQUAL(mdl_self->dropped, MARGIN);
  mdl_self->tail = mdl_self->head;
  sample_enter(0, KEY(1));
  sample_leave(0, KEY(1));
  CHECK_EQUAL(mdl_self->head, RECORDS - MARGIN + 1);
  CHECK_EQUAL(functions[0].open, 0);
}

static void shouldSwitchEntriesOffAfterTheDeadlineAndExitsAfterTheLastFrame(void) {
  fixture(false);
  set_mean(0, 2);
  arm(0, LONG_LEASE);
  enter_timed(0, KEY(1));
  functions[0].deadline = __rdtsc() - 1;
  sample_enter(0, KEY(2));
  CHECK_EQUAL(functions[0].state, MDL_EXPIRED);
  CHECK_EQUAL(code[0], OFF);
  CHECK_EQUAL(code[1], EXIT_ON); /* a frame is open */
  CHECK_EQUAL(calls(0), 1);
  sample_leave(0, KEY(2));
  CHECK_EQUAL(code[1], EXIT_ON);
  sample_leave(0, KEY(1));
  CHECK_EQUAL(code[1], OFF);
  CHECK_EQUAL(mdl_self->head, 1);
  CHECK_EQUAL(session->toggles, 4);
  CHECK_EQUAL(functions[0].closers, 0);
}

static void shouldSwitchEntriesOffAtOnceAndExitsAfterTheLastFrameWhenDisarmed(void) {
  fixture(false);
  set_mean(0, 2);
  arm(0, LONG_LEASE);
  arm(1, LONG_LEASE);
  enter_timed(0, KEY(1));
  uint32_t indices[] = {0, 2};
  CHECK_EQUAL(record_disarm(indices, 2), 1); /* 2 has no lease */
  CHECK_EQUAL(functions[0].state, MDL_EXPIRED);
  CHECK_EQUAL(functions[2].state, MDL_IDLE);
  CHECK_EQUAL(code[0], OFF);
  CHECK_EQUAL(code[1], EXIT_ON);
  CHECK_EQUAL(code[2], ENTRY_ON);
  enter_timed(0, KEY(2)); /* by a thread that had passed the site already */
  CHECK_EQUAL(depth(), 1);
  CHECK_EQUAL(functions[0].open, 1);
  sample_leave(0, KEY(1));
  CHECK_EQUAL(code[1], OFF);
  CHECK_EQUAL(mdl_self->head, 1);
}

static void shouldTakeBackDiscardedFramesFromTheOpenOnes(void) {
  fixture(false);
  set_mean(0, 2);
  set_mean(1, 2);
  arm(0, LONG_LEASE);
  arm(1, LONG_LEASE);
  enter_timed(0, KEY(1));
  enter_timed(1, KEY(2));
  enter_timed(1, KEY(3));
  CHECK_EQUAL(functions[1].open, 2);
  sample_leave(0, KEY(1));
  CHECK_EQUAL(functions[1].open, 0);
  CHECK_EQUAL(functions[0].open, 0);
  CHECK_EQUAL(mdl_self->unmatched, 2);
}

static void shouldLeaveOutOfArmWhatIsBeingClosed(void) {
  fixture(false);
  functions[0].state = MDL_EXPIRED;
  functions[0].closers = 1; /* a closer between its first step and its last */
  uint32_t indices[] = {0, 1};
  uint64_t leases[] = {LONG_LEASE, LONG_LEASE};
  CHECK_EQUAL(record_arm(indices, leases, 2), 2);
  CHECK_EQUAL(functions[0].state, MDL_EXPIRED);
  CHECK_EQUAL(code[0], OFF);
  CHECK_EQUAL(functions[1].state, MDL_SAMPLING);
}

static void shouldNotCloseANewLease(void) {
  fixture(false);
  arm(0, LONG_LEASE);
  record_expire_entry(entry_of(0));
  record_expire_exit(exit_of(0));
  CHECK_EQUAL(code[0], ENTRY_ON);
  CHECK_EQUAL(code[1], EXIT_ON);
  functions[0].state = MDL_REARMING;
  functions[0].deadline = 0;
  record_expire_entry(entry_of(0));
  record_expire_exit(exit_of(0));
  CHECK_EQUAL(code[0], ENTRY_ON);
  CHECK_EQUAL(code[1], EXIT_ON);
}

/*
 * Threads call a function as the machine code would, only while its sites are on, and close leases; another
 * thread opens them. After each opening the sites must stay on until the new deadline: G1. All frames are
 * closed in the end: G2.
 */
enum { CALLERS = 3 };
static _Atomic bool stop;
static _Atomic uint64_t records_written;

static void *call_while_on(void *number) {
  uint64_t key = KEY(1000 * ((uintptr_t)number + 1));
  uint64_t written = 0;
  thread_end_watch();
  while (!stop) {
    if (*(volatile uint8_t *)&code[0] == ENTRY_ON) {
      sample_enter(0, key);
    }
    if (*(volatile uint8_t *)&code[1] == EXIT_ON) {
      sample_leave(0, key);
    }
    if (mdl_self && mdl_self->head != written) {
      records_written += mdl_self->head - written;
      mdl_self->tail = written = mdl_self->head;
    }
  }
  /* frames that found their exit off would stay open: there must be none */
  CHECK(mdl_self == NULL || depth() == 0);
  return NULL;
}

typedef bool (*opener)(uint64_t ticks);

static bool open_lease(uint64_t ticks) {
  uint32_t index = 0;
  __atomic_store_n(&functions[0].remaining, TOLD, __ATOMIC_RELAXED);
  return record_arm(&index, &ticks, 1) != 0;
}

/* The broken twin: opens a lease without checking for closers of the last one. */
static bool open_lease_blindly(uint64_t ticks) {
  struct mdl_function *function = &functions[0];
  __atomic_store_n(&function->remaining, TOLD, __ATOMIC_RELAXED);
  code_store(exit_of(0)->store, EXIT_ON, 1);
  __atomic_store_n(&function->deadline, __rdtsc() + ticks, __ATOMIC_RELAXED);
  __atomic_store_n(&function->state, MDL_SAMPLING, __ATOMIC_RELEASE);
  code_store(entry_of(0)->store, ENTRY_ON, 1);
  return true;
}

enum { LEASES_MIN = 1000, PATIENCE_SECONDS = 300 };

/* Counts how often a site was off before its lease was over: until that was seen `enough` times, or for
 * `seconds` at most; over enough leases; and until callers have had a processor in one. */
static uint64_t race(opener open, uint64_t enough, uint64_t seconds) {
  pthread_t threads[CALLERS];
  set_mean(0, 2);
  for (uintptr_t i = 0; i < CALLERS; i++) {
    pthread_create(&threads[i], NULL, call_while_on, (void *)i);
  }
  uint64_t opened = 0, left_out = 0, closed_early = 0;
  uint64_t begin = clock_nanos(CLOCK_MONOTONIC), passed = 0;
  for (uint64_t seed = 1; closed_early < enough && passed < PATIENCE_SECONDS * 1000000000ULL &&
                          (passed < seconds * 1000000000u || opened <= LEASES_MIN || records_written == 0);
       passed = clock_nanos(CLOCK_MONOTONIC) - begin) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    if (!open((seed >> 33) % 20000)) {
      left_out++;
      continue;
    }
    opened++;
    while (opened % 4 == 0) {
      uint8_t entry = *(volatile uint8_t *)&code[0], exit_site = *(volatile uint8_t *)&code[1];
      _mm_lfence(); /* the time is not read before the sites */
      if (__rdtsc() >= functions[0].deadline) {
        break;
      }
      closed_early += entry != ENTRY_ON || exit_site != EXIT_ON;
    }
  }
  while (!open(0)) {
  }
  /* This lease ends at once: its sites go off, so no frame is open then. */
  while (*(volatile uint8_t *)&code[0] == ENTRY_ON || *(volatile uint8_t *)&code[1] == EXIT_ON) {
  }
  stop = true;
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(threads[i], NULL);
  }
  fprintf(stderr, "        %" PRIu64 " leases, %" PRIu64 " left out, %" PRIu64 " records, %" PRIu64 " closed early\n",
          opened, left_out, records_written, closed_early);
  return closed_early;
}

static void shouldNeverCloseANewerLeaseWhileThreadsRaceWithArm(void) {
  fixture(false);
  CHECK_EQUAL(race(open_lease, UINT64_MAX, 3), 0);
  CHECK(records_written > 0);
  CHECK_EQUAL(code[0], OFF);
  CHECK_EQUAL(code[1], OFF);
  CHECK_EQUAL(functions[0].open, 0);
  CHECK_EQUAL(functions[0].closers, 0);
}

static void shouldCloseANewerLeaseWhenArmDoesNotLookAtClosers(void) {
  fixture(false);
  CHECK(race(open_lease_blindly, 1, 30) > 0);
}

static void shouldSwitchEverySiteOffWhenTheAgentDies(void) {
  fixture(false);
  arm(0, LONG_LEASE);
  arm(3, LONG_LEASE);
  agent_died("a test", NULL);
  for (int i = 0; i < 2 * FUNCTIONS; i++) {
    CHECK_EQUAL(code[i], OFF);
  }
  CHECK_EQUAL(session->state, MDL_AGENT_DEAD);
  uint32_t index = 0;
  uint64_t lease = LONG_LEASE;
  CHECK_EQUAL(record_arm(&index, &lease, 1), 0);
  CHECK_EQUAL(code_toggle(&index, 1, 1), 0);
  CHECK_EQUAL(code[0], OFF);
}

/* Times of slow calls, in ticks from an arbitrary one. */
enum { SLOW_TICKS = 100000, KEPT_TICKS = 1000 };
static const uint64_t SLOW_EPOCH = 1 << 30;

static struct mdl_slow_calls *slow_fixture(void) {
  fixture(true);
  struct mdl_slow_calls *slow = (struct mdl_slow_calls *)session_allocate(sizeof *slow);
  slow->threshold = SLOW_TICKS;
  slow->reading_ticks = 1;
  slow->log = session_allocate(MDL_SLOW_LOG * sizeof(struct mdl_slow_call));
  slow->waits = session_allocate(MDL_SLOW_WAITS * sizeof(struct mdl_slow_wait));
  session->slow = (uintptr_t)slow;
  for (int i = 0; i < FUNCTIONS; i++) {
    functions[i].slow = KEPT_TICKS;
  }
  CHECK(record_thread() != NULL);
  return slow;
}

static void returned(int function, uint64_t start, uint64_t end) {
  slow_calls_returned(mdl_self, &functions[function], SLOW_EPOCH + start, SLOW_EPOCH + end);
}

static const struct mdl_slow_call *logged(const struct mdl_slow_calls *slow, uint64_t position) {
  const struct mdl_slow_call *call = (const struct mdl_slow_call *)slow->log + position;
  CHECK_EQUAL(call->seq, position + 1);
  return call;
}

static void shouldKeepASlowCallWithItsCalleesOnce(void) {
  struct mdl_slow_calls *slow = slow_fixture();
  returned(4, 0, 5000);           /* before it */
  returned(1, 10000, 12000);      /* a callee's callee */
  returned(2, 10000, 20000);
  returned(3, 30000, 30000 + KEPT_TICKS - 1); /* too short for the ring */
  CHECK_EQUAL(slow->next, 0);
  returned(5, 9000, 9000 + SLOW_TICKS);
  CHECK_EQUAL(slow->next, 3);
  CHECK_EQUAL(slow->slow, 1);
  CHECK_EQUAL(logged(slow, 0)->function, 1);
  CHECK_EQUAL(logged(slow, 1)->function, 2);
  CHECK_EQUAL(logged(slow, 2)->function, 5);
  CHECK_EQUAL(logged(slow, 2)->end - logged(slow, 2)->start, SLOW_TICKS);
  CHECK_EQUAL(logged(slow, 2)->limit, SLOW_TICKS);
  CHECK_EQUAL(logged(slow, 2)->tid, mdl_self->tid);
  /* A caller of it is slow, too: only what is new is added. 1/256 of its time is more than what this callee took. */
  returned(6, 200000, 200000 + KEPT_TICKS);
  returned(7, 0, 1000000);
  CHECK_EQUAL(slow->next, 4);
  CHECK_EQUAL(slow->slow, 2);
  CHECK_EQUAL(logged(slow, 3)->function, 7);
  CHECK_EQUAL(slow->cut, 0);
}

static void shouldTellWhenCalleesOfASlowCallWereOverwritten(void) {
  struct mdl_slow_calls *slow = slow_fixture();
  for (uint64_t i = 0; i < 2 * MDL_SLOW_RING; i++) {
    returned(1, 2000 * i, 2000 * i + KEPT_TICKS);
  }
  returned(2, 2000 * MDL_SLOW_RING, 2000 * 2 * MDL_SLOW_RING);
  CHECK_EQUAL(slow->cut, 1);
  CHECK_EQUAL(slow->slow, 1);
  CHECK_EQUAL(logged(slow, slow->next - 1)->function, 2);
}

static void shouldKeepCallsBeyondTheirFunctionsOwnLimit(void) {
  struct mdl_slow_calls *slow = slow_fixture();
  slow->threshold = 0;
  returned(1, 0, 1000000); /* no limit is known yet */
  slow->limits = session_allocate(FUNCTIONS * sizeof(uint64_t));
  ((uint64_t *)slow->limits)[2] = 3000;
  returned(1, 0, 1000000);
  returned(2, 2000000, 2000000 + 2999);
  CHECK_EQUAL(slow->slow, 0);
  returned(2, 3000000, 3000000 + 3000);
  CHECK_EQUAL(slow->slow, 1);
  CHECK_EQUAL(logged(slow, 0)->limit, 3000);
  functions[2].slow = UINT32_MAX;
  returned(2, 4000000, 4000000 + 4000);
  CHECK_EQUAL(slow->slow, 1);
}

static void shouldMeasureTheCpuTimeOfASlowCallFromTheLastReading(void) {
  struct mdl_slow_calls *slow = slow_fixture();
  slow_calls_read_cpu(mdl_self);
  CHECK(mdl_self->cpu_due != 0);
  uint64_t start = __rdtsc();
  struct timespec nap = {.tv_nsec = 50000000};
  CHECK(nanosleep(&nap, NULL) == 0);
  slow_calls_returned(mdl_self, &functions[1], start, __rdtsc());
  CHECK_EQUAL(slow->slow, 1);
  const struct mdl_slow_call *call = logged(slow, 0);
  CHECK(call->lag < call->end - call->start);
  CHECK(call->on_cpu > 0 && call->on_cpu < 40000000);
}

static void shouldNotTakeAnEndedThreadsReadingsForItsOwn(void) {
  struct mdl_slow_calls *slow = slow_fixture();
  slow_calls_read_cpu(mdl_self);
  slow_calls_begin(mdl_self);
  mdl_self->tid++;
  uint64_t start = __rdtsc();
  slow_calls_returned(mdl_self, &functions[1], start, start + SLOW_TICKS);
  CHECK_EQUAL(logged(slow, 0)->lag, UINT64_MAX);
}

static void shouldKeepWaitsAndExtendThem(void) {
  struct mdl_slow_calls *slow = slow_fixture();
  uint64_t at = 0;
  slow_calls_saw_wait(7, 5, 3, 1000, false, &at);
  slow_calls_saw_wait(7, 5, 3, 1500, true, &at);
  const struct mdl_slow_wait *wait = (const struct mdl_slow_wait *)slow->waits;
  CHECK_EQUAL(slow->wait_count, 1);
  CHECK_EQUAL(wait->since, 1000);
  CHECK_EQUAL(wait->until, 1500);
  for (uint32_t i = 0; i < MDL_SLOW_WAITS; i++) {
    uint64_t other = 0;
    slow_calls_saw_wait(8, 5, 4, 2000 + i, false, &other);
  }
  slow_calls_saw_wait(7, 5, 3, 9000, true, &at); /* its record has been overwritten */
  CHECK_EQUAL(slow->wait_count, MDL_SLOW_WAITS + 2);
}

TESTS({"shouldKeepASlowCallWithItsCalleesOnce", shouldKeepASlowCallWithItsCalleesOnce},
      {"shouldTellWhenCalleesOfASlowCallWereOverwritten", shouldTellWhenCalleesOfASlowCallWereOverwritten},
      {"shouldKeepCallsBeyondTheirFunctionsOwnLimit", shouldKeepCallsBeyondTheirFunctionsOwnLimit},
      {"shouldMeasureTheCpuTimeOfASlowCallFromTheLastReading", shouldMeasureTheCpuTimeOfASlowCallFromTheLastReading},
      {"shouldNotTakeAnEndedThreadsReadingsForItsOwn", shouldNotTakeAnEndedThreadsReadingsForItsOwn},
      {"shouldKeepWaitsAndExtendThem", shouldKeepWaitsAndExtendThem},
      {"shouldAttachOncePerThreadAndKeepErrno", shouldAttachOncePerThreadAndKeepErrno},
      {"shouldReuseBlockOfEndedThread", shouldReuseBlockOfEndedThread},
      {"shouldRecordDurationsAndSelfTimeOfNestedCalls", shouldRecordDurationsAndSelfTimeOfNestedCalls},
      {"shouldCountEachCallOfARecursion", shouldCountEachCallOfARecursion},
      {"shouldCountEntriesBeyondTheShadowStackAndRecover", shouldCountEntriesBeyondTheShadowStackAndRecover},
      {"shouldDiscardFramesThatLongjmpLeft", shouldDiscardFramesThatLongjmpLeft},
      {"shouldCloseInlinedCallsOfOneFrameByTheirFunction", shouldCloseInlinedCallsOfOneFrameByTheirFunction},
      {"shouldIgnoreExitsThatNoEntryBelongsTo", shouldIgnoreExitsThatNoEntryBelongsTo},
      {"shouldLearnAnUnknownSitesFunctionFromItsFirstCall", shouldLearnAnUnknownSitesFunctionFromItsFirstCall},
      {"shouldRecordTheArgumentsFunctionWhereSeveralShareASite",
       shouldRecordTheArgumentsFunctionWhereSeveralShareASite},
      {"shouldPutDurationsIntoTheHistogramsSlots", shouldPutDurationsIntoTheHistogramsSlots},
      {"shouldCountCallsByThePlacesTheyReturnTo", shouldCountCallsByThePlacesTheyReturnTo},
      {"shouldCountCallsFromFurtherPlacesTogether", shouldCountCallsFromFurtherPlacesTogether},
      {"shouldCountCallsThatFindNoMemory", shouldCountCallsThatFindNoMemory},
      {"shouldMuteThreadsThatFindNoMemory", shouldMuteThreadsThatFindNoMemory},
      {"shouldRecordNothingOnAgentThreads", shouldRecordNothingOnAgentThreads},
      {"shouldGiveAForkedChildABlockOfItsOwn", shouldGiveAForkedChildABlockOfItsOwn},
      {"shouldStayConsistentWhenHandlersWithProbesInterruptAnywhere",
       shouldStayConsistentWhenHandlersWithProbesInterruptAnywhere},
      {"shouldArmExitsAndEntriesAndCountTheStores", shouldArmExitsAndEntriesAndCountTheStores},
      {"shouldLeaveExitsOffWhereCallsAreOnlyCounted", shouldLeaveExitsOffWhereCallsAreOnlyCounted},
      {"shouldCountTheFirstCallForCoverageAndSwitchTheProbeOff", shouldCountTheFirstCallForCoverageAndSwitchTheProbeOff},
      {"shouldOnlyCountCallsOfWhichNoneIsTimed", shouldOnlyCountCallsOfWhichNoneIsTimed},
      {"shouldKnowWhichRecordsAreOfThreadsThatHaveEnded", shouldKnowWhichRecordsAreOfThreadsThatHaveEnded},
      {"shouldRecordEveryCallOfAChosenFunctionWhileOthersAreSampled",
       shouldRecordEveryCallOfAChosenFunctionWhileOthersAreSampled},
      {"shouldTimeCallsByChanceAndCountAll", shouldTimeCallsByChanceAndCountAll},
      {"shouldTakeOffWhatReadingTheClockTakes", shouldTakeOffWhatReadingTheClockTakes},
      {"shouldTakeOffWhatRecordingOthersTook", shouldTakeOffWhatRecordingOthersTook},
      {"shouldEndAChosenFunctionWhenTheAgentHasGivenNoSignOfLife", shouldEndAChosenFunctionWhenTheAgentHasGivenNoSignOfLife},
      {"shouldTimeACallWhateverWasTimedBefore", shouldTimeACallWhateverWasTimedBefore},
      {"shouldLetTheFrameSayWhatACallStandsForWhileTheMeanChanges",
       shouldLetTheFrameSayWhatACallStandsForWhileTheMeanChanges},
      {"shouldForgetAnIntervalOfAnotherMean", shouldForgetAnIntervalOfAnotherMean},
      {"shouldDiscardFramesOfChosenFunctionsAndOfOthers", shouldDiscardFramesOfChosenFunctionsAndOfOthers},
      {"shouldSwitchAChosenFunctionOff", shouldSwitchAChosenFunctionOff},
      {"shouldOpenNoFrameOfAChosenFunctionThatWasStopped", shouldOpenNoFrameOfAChosenFunctionThatWasStopped},
      {"shouldTakeCpuTimeForDurationsAndNotWhatPasses", shouldTakeCpuTimeForDurationsAndNotWhatPasses},
      {"shouldSayWhenASampledCallBeganThatIsMeasuredByCpuTime", shouldSayWhenASampledCallBeganThatIsMeasuredByCpuTime},
      {"shouldTakeNoTimeWhereTheThreadsTimeBeganAnew", shouldTakeNoTimeWhereTheThreadsTimeBeganAnew},
      {"shouldNotAskForCpuTimeWhenTheAgentHasLeft", shouldNotAskForCpuTimeWhenTheAgentHasLeft},
      {"shouldSayWhereACallWasInlined", shouldSayWhereACallWasInlined},
      {"shouldDropRecordsWhenTheRingIsFullAndGoOnWhenDrained", shouldDropRecordsWhenTheRingIsFullAndGoOnWhenDrained},
      {"shouldSwitchEntriesOffAfterTheDeadlineAndExitsAfterTheLastFrame",
       shouldSwitchEntriesOffAfterTheDeadlineAndExitsAfterTheLastFrame},
      {"shouldSwitchEntriesOffAtOnceAndExitsAfterTheLastFrameWhenDisarmed",
       shouldSwitchEntriesOffAtOnceAndExitsAfterTheLastFrameWhenDisarmed},
      {"shouldTakeBackDiscardedFramesFromTheOpenOnes", shouldTakeBackDiscardedFramesFromTheOpenOnes},
      {"shouldLeaveOutOfArmWhatIsBeingClosed", shouldLeaveOutOfArmWhatIsBeingClosed},
      {"shouldNotCloseANewLease", shouldNotCloseANewLease},
      {"shouldNeverCloseANewerLeaseWhileThreadsRaceWithArm", shouldNeverCloseANewerLeaseWhileThreadsRaceWithArm},
      {"shouldCloseANewerLeaseWhenArmDoesNotLookAtClosers", shouldCloseANewerLeaseWhenArmDoesNotLookAtClosers},
      {"shouldSwitchEverySiteOffWhenTheAgentDies", shouldSwitchEverySiteOffWhenTheAgentDies})
