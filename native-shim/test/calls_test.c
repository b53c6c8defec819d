/* Calls of whole functions: what the stubs' slow paths decide. */
#include "fixture.h"
#include "os/stack.h"
#include "record/calls.h"
#include "record/mode.h"
#include "record/files.h"
#include "record/snippets.h"
#include "record/thread.h"
#include "session/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <x86intrin.h>

#define RETURN_ADDRESS 0x1234u

static uint8_t *stubs; /* of the test's sites, consecutive */

static uint64_t stub_of(int function) { return (uintptr_t)stubs + (uint64_t)function * STUB_BYTES; }

static void whole_fixture(void) {
  static const uint8_t head[STUB_SITE] = {0x4C, 0x89, 0x9C, 0x24, 0xD8, 0xFF, 0xFF, 0xFF, 0x48, 0x83, 0xEC, 0x18, 0x49, 0xBB};
  fixture(true);
  calls_start();
  stubs = aligned_alloc(STUB_BYTES, FUNCTIONS * STUB_BYTES);
  for (int i = 0; i < FUNCTIONS; i++) {
    struct mdl_site *site = entry_of(i);
    site->stub = stub_of(i);
    site->kind = MDL_WHOLE;
    memcpy((uint8_t *)site->stub, head, sizeof head);
    memcpy((uint8_t *)site->stub + STUB_SITE, &site, sizeof site);
  }
}

/* A stub's stack around its body. */
struct words {
  uint64_t stub;
  struct mdl_call call;
  uint64_t return_address;
};

static uint64_t enter_from(int function, struct words *words, uint64_t return_address) {
  words->return_address = return_address;
  uint64_t what = calls_enter(entry_of(function), &words->call);
  words->stub = stub_of(function) + STUB_RETURN;
  return what;
}

static bool enter(int function, struct words *words) {
  return enter_from(function, words, RETURN_ADDRESS) == CALLS_SEEN;
}

static void leave(int function, const struct words *words) { calls_leave(&words->call, entry_of(function), __rdtsc()); }

static uint64_t calls(int function) { return ((uint64_t *)mdl_self->calls)[function]; }

static const struct mdl_row *row_of(int function) { return ((struct mdl_row **)mdl_self->rows)[function]; }

static uint64_t recorded(int function) { return row_of(function) ? row_of(function)->count : 0; }

static void shouldRecordCallsWithinCalls(void) {
  struct words outer, inner;
  whole_fixture();
  errno = 42;
  CHECK(enter(0, &outer));
  CHECK(enter(1, &inner));
  CHECK_EQUAL(errno, 42);
  leave(1, &inner);
  leave(0, &outer);
  CHECK_EQUAL(errno, 42);
  CHECK_EQUAL(recorded(0), 1);
  CHECK_EQUAL(recorded(1), 1);
  CHECK_EQUAL(row_of(1)->self, row_of(1)->total);
  CHECK_EQUAL(row_of(0)->self + row_of(1)->total, row_of(0)->total);
}

static void spin(void) {
  for (uint64_t begin = __rdtsc(); __rdtsc() - begin < 1000;) {
  }
}

static uint64_t outermost_ticks(void) { return row_of(0) ? row_of(0)->total - row_of(0)->nested : 0; }

static void shouldTellNestedCallsApart(void) {
  struct words outer, between, inner, innermost;
  whole_fixture();
  record_thread();
  for (int round = 0; round < 2; round++) { /* without a row at first */
    uint64_t before = outermost_ticks();
    enter(0, &outer);
    enter(1, &between);
    enter(0, &inner);
    enter(0, &innermost);
    spin();
    leave(0, &innermost);
    uint64_t within = outermost_ticks() - before;
    leave(0, &inner);
    leave(1, &between);
    uint64_t total = row_of(0)->total;
    CHECK(outermost_ticks() - before >= within);
    leave(0, &outer);
    CHECK_EQUAL(outermost_ticks() - before, row_of(0)->total - total); /* the outer one's */
    CHECK_EQUAL(row_of(1)->nested, 0);
  }
  CHECK_EQUAL(recorded(0), 6);
}

static void shouldForgetCallsThatAJumpLeaves(void) {
  struct words left, outer, inner, again;
  whole_fixture();
  enter(0, &outer);
  enter(0, &left);
  enter(0, &inner);
  spin();
  leave(0, &inner);
  leave(0, &outer); /* the middle one was left */
  CHECK_EQUAL(calls(0), 3);
  CHECK_EQUAL(recorded(0), 2);
  uint64_t nested = row_of(0)->nested;
  CHECK(nested > 0 && outermost_ticks() <= row_of(0)->max);
  enter(0, &again);
  spin();
  leave(0, &again);
  CHECK_EQUAL(row_of(0)->nested, nested);
  CHECK(row_of(0)->self <= row_of(0)->total);
}

static void *return_in_a_child(void *words) {
  record_forked(); /* as a forked child: its own block, younger than the call */
  record_thread();
  leave(3, words);
  CHECK_EQUAL(recorded(3), 0);
  struct words own;
  enter(3, &own);
  leave(3, &own);
  CHECK_EQUAL(recorded(3), 1);
  return NULL;
}

static void shouldNotRecordTheReturnOfAForkedParentsCall(void) {
  struct words words;
  whole_fixture();
  enter(3, &words);
  pthread_t thread;
  pthread_create(&thread, NULL, return_in_a_child, &words);
  pthread_join(thread, NULL);
}

static void *leave_elsewhere(void *words) {
  leave(3, words);
  CHECK_EQUAL(recorded(3), 1);
  return NULL;
}

static void shouldRecordOnTheThreadThatReturns(void) {
  struct words words;
  whole_fixture();
  enter(3, &words);
  pthread_t thread;
  pthread_create(&thread, NULL, leave_elsewhere, &words);
  pthread_join(thread, NULL);
  CHECK_EQUAL(recorded(3), 0);
}

static void shouldKnowASiblingCall(void) {
  struct words words, sibling;
  whole_fixture();
  enter(0, &words);
  CHECK_EQUAL(enter_from(1, &sibling, words.stub), CALLS_SIBLING);
  CHECK_EQUAL(calls(1), 0); /* it comes again */
  CHECK_EQUAL(enter_from(1, &sibling, words.stub + STUB_BYTES / 2), CALLS_SEEN);
  memset((void *)stub_of(0), 0xE9, 5); /* the stub leads to its counter */
  CHECK_EQUAL(enter_from(1, &sibling, words.stub), CALLS_SIBLING);
  memset((void *)stub_of(0), 0xCC, STUB_SITE);
  CHECK_EQUAL(enter_from(1, &sibling, words.stub), CALLS_SEEN);
}

static void shouldKeepTheWordsOfACallWhoseReturnAClientWaitsFor(void) {
  struct words words, sibling;
  whole_fixture();
  enter(0, &words);
  entry_of(0)[1].client = 1;
  CHECK_EQUAL(enter_from(1, &sibling, words.stub), CALLS_SEEN);
  entry_of(0)[1].client = 0;
}

static void shouldLeaveTheProgramMostOfItsStack(void) {
  struct words words;
  whole_fixture();
  CHECK(enter(0, &words));
  uint64_t here = (uintptr_t)&words.call;
  mdl_self->stack_low = here - 4096;
  mdl_self->stack_room = 8192;
  CHECK(!enter(0, &words));
  CHECK_EQUAL(calls(0), 2);
  CHECK_EQUAL(mdl_self->overflow, 1);
  mdl_self->stack_room = 4096;
  CHECK(enter(0, &words));
  mdl_self->stack_low = here + 4096; /* another stack */
  CHECK(enter(0, &words));
}

static void shouldNotRecordOnThreadsThatAreMute(void) {
  struct words words;
  whole_fixture();
  record_mute_thread();
  CHECK(!enter(0, &words));
}

static void *stack_bounds(void *out) {
  *(struct stack *)out = stack_of_thread((uintptr_t)__builtin_frame_address(0));
  return NULL;
}

static ucontext_t caller, coroutine;

static void attach(void) { record_thread(); }

/* Otherwise the outermost frame would have the key of some call of the coroutine. */
static void shouldTakeNoStackForTheThreadsThatMayBeAnothers(void) {
  static char stack[1 << 16];
  whole_fixture();
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = sizeof stack;
  coroutine.uc_link = &caller;
  makecontext(&coroutine, attach, 0);
  swapcontext(&caller, &coroutine);
  CHECK_EQUAL(((const struct mdl_frame *)mdl_self->sp_base)->key, UINT64_MAX);
  CHECK_EQUAL(mdl_self->stack_low, UINT64_MAX);
  struct words words;
  CHECK(enter(0, &words));
}

static void shouldFindTheStackOfEachKindOfThread(void) {
  whole_fixture();
  struct stack first = stack_of_thread((uintptr_t)__builtin_frame_address(0));
  CHECK(first.low < (uintptr_t)&first && (uintptr_t)&first < first.high);
  CHECK(first.high - first.low >= 1 << 20);

  enum { BYTES = 1 << 18 };
  struct stack second = {0};
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  char *memory = mmap(NULL, 4 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  CHECK_EQUAL(pthread_attr_setstack(&attributes, memory + BYTES, BYTES), 0);
  pthread_create(&thread, &attributes, stack_bounds, &second);
  pthread_join(thread, NULL);
  CHECK(second.low >= (uintptr_t)memory + BYTES - 8192);
  CHECK(second.high <= (uintptr_t)memory + 2 * BYTES);
  CHECK(second.high - second.low > BYTES / 2);
}

static void shouldEndWithTheThreadWhatSnippetsHaveBegun(void) {
  whole_fixture();
  uint64_t *values = snippets_values();
  CHECK(values != NULL && snippets_values() == values);
  CHECK_EQUAL(mdl_self->values, (uintptr_t)values);
  uint8_t *kinds = (uint8_t *)session_allocate(MDL_VALUES);
  const uint8_t kind[] = {MDL_VALUE_NONE, MDL_VALUE_COUNTER, MDL_VALUE_FLAG, MDL_WALL_TIMER};
  memcpy(kinds, kind, sizeof kind);
  session->value_kinds = (uintptr_t)kinds;
  values[1] = 7;
  values[2] = 1;
  uint64_t *timer = &values[3];
  timer[MDL_TIMER_NESTING] = 2;
  timer[MDL_TIMER_START] = __rdtsc() - 1000;
  timer[MDL_TIMER_TOTAL] = 10;

  record_detach();

  CHECK_EQUAL(values[1], 7);
  CHECK_EQUAL(values[2], 0);
  CHECK_EQUAL(timer[MDL_TIMER_NESTING], 0);
  CHECK(timer[MDL_TIMER_TOTAL] >= 1010 && timer[MDL_TIMER_TOTAL] < 1ULL << 40);
}

static const uint64_t numbers[SNIPPET_ARGUMENTS] = {1, 2, 3, 4, 5, 6};
static uint64_t passed[SNIPPET_ARGUMENTS];
static struct snippet_result nested;

static uint64_t called(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
  memcpy(passed, (uint64_t[]){a, b, c, d, e, f}, sizeof passed);
  nested = snippets_call((uintptr_t)called, numbers);
  errno = 1;
  return a + f;
}

static void shouldCallForSnippetsUnlessTheThreadIsInACall(void) {
  whole_fixture();
  uint64_t *values = snippets_values();
  errno = 42;
  for (int i = 0; i < 2; i++) {
    memset(passed, 0, sizeof passed);
    struct snippet_result result = snippets_call((uintptr_t)called, numbers);
    CHECK_EQUAL(errno, 42);
    CHECK(result.values == values);
    CHECK_EQUAL(result.result, 7);
    CHECK(memcmp(passed, numbers, sizeof passed) == 0);
    CHECK(nested.values == NULL);
    CHECK_EQUAL(nested.result, 0);
  }
}

static void shouldTellOfDescriptorsInACallToo(void) {
  whole_fixture();
  uint64_t *values = snippets_values();
  CHECK(files_begin());
  mdl_self->in_call = 1;
  errno = 42;
  const uint64_t told[SNIPPET_ARGUMENTS] = {MDL_FILE_OPENED, 1, (uintptr_t)"/a", 0, 0, 3};
  struct snippet_result result = snippets_call((uintptr_t)files_note, told);
  CHECK_EQUAL(errno, 42);
  CHECK(result.values == values);
  const int64_t *table = *(const int64_t *const *)files_table();
  CHECK_EQUAL(table[2 + 3], files_intern("/File/a", 7));
}

static uint64_t end_thread(void) { pthread_exit(NULL); }

static void *call_end_thread(void *block) {
  snippets_values()[MDL_VALUE_DEPTH] = 1;
  *(struct mdl_thread **)block = mdl_self;
  snippets_call((uintptr_t)end_thread, numbers);
  return NULL;
}

static void shouldLeaveTheSnippetWhoseCallEndsTheThread(void) {
  struct mdl_thread *block = NULL;
  pthread_t thread;
  whole_fixture();
  pthread_create(&thread, NULL, call_end_thread, &block);
  pthread_join(thread, NULL);
  CHECK_EQUAL(((uint64_t *)block->values)[MDL_VALUE_DEPTH], 0);
  CHECK_EQUAL(block->in_call, 0);
}

TESTS({"shouldRecordCallsWithinCalls", shouldRecordCallsWithinCalls},
      {"shouldForgetCallsThatAJumpLeaves", shouldForgetCallsThatAJumpLeaves},
      {"shouldRecordOnTheThreadThatReturns", shouldRecordOnTheThreadThatReturns},
      {"shouldKnowASiblingCall", shouldKnowASiblingCall},
      {"shouldKeepTheWordsOfACallWhoseReturnAClientWaitsFor", shouldKeepTheWordsOfACallWhoseReturnAClientWaitsFor},
      {"shouldLeaveTheProgramMostOfItsStack", shouldLeaveTheProgramMostOfItsStack},
      {"shouldTellNestedCallsApart", shouldTellNestedCallsApart},
      {"shouldNotRecordTheReturnOfAForkedParentsCall", shouldNotRecordTheReturnOfAForkedParentsCall},
      {"shouldEndWithTheThreadWhatSnippetsHaveBegun", shouldEndWithTheThreadWhatSnippetsHaveBegun},
      {"shouldCallForSnippetsUnlessTheThreadIsInACall", shouldCallForSnippetsUnlessTheThreadIsInACall},
      {"shouldTellOfDescriptorsInACallToo", shouldTellOfDescriptorsInACallToo},
      {"shouldLeaveTheSnippetWhoseCallEndsTheThread", shouldLeaveTheSnippetWhoseCallEndsTheThread},
      {"shouldTakeNoStackForTheThreadsThatMayBeAnothers", shouldTakeNoStackForTheThreadsThatMayBeAnothers},
      {"shouldNotRecordOnThreadsThatAreMute", shouldNotRecordOnThreadsThatAreMute},
      {"shouldFindTheStackOfEachKindOfThread", shouldFindTheStackOfEachKindOfThread})
