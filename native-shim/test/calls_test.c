/* Frames of whole functions: what the stubs' slow paths decide. Keys are addresses on real stacks. */
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
#include <sys/mman.h>
#include <x86intrin.h>

#define STUB 0x10000u /* of the test's sites, one behind the other */

static uint64_t slots[64]; /* on no thread's stack */

static void whole_fixture(void) {
  fixture(true);
  calls_start();
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    entry_of((int)i)->stub = STUB + i * STUB_BYTES;
    entry_of((int)i)->kind = MDL_WHOLE;
  }
}

static uint64_t key_of(const uint64_t *slot) { return (uintptr_t)(slot + 1); }

/* As the stub does when the frame is there: its call leaves the stub's address in the return slot. */
static struct mdl_frame *enter(int function, uint64_t *slot) {
  struct mdl_frame *frame = calls_enter(entry_of(function), key_of(slot));
  if (frame) {
    frame->ret = *slot;
    *slot = entry_of(function)->stub + STUB_RETURN;
  }
  return frame;
}

static uint64_t calls(int function) { return ((uint64_t *)mdl_self->calls)[function]; }

static uint64_t recorded(int function) {
  const struct mdl_row *row = ((struct mdl_row **)mdl_self->rows)[function];
  return row ? row->count : 0;
}

static void shouldNestOnTheThreadsOwnStack(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  errno = 42;
  struct mdl_frame *outer = enter(0, &stack[6]);
  struct mdl_frame *inner = enter(1, &stack[2]);
  CHECK_EQUAL(errno, 42);
  CHECK(inner == outer + 1);
  CHECK_EQUAL(outer->flags, 0);
  CHECK_EQUAL(outer->key, key_of(&stack[6]));
  calls_leave(inner, __rdtsc());
  CHECK_EQUAL(outer->children, ((struct mdl_row **)mdl_self->rows)[1]->total);
  calls_leave(outer, __rdtsc());
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(recorded(0) + recorded(1), 2);
  CHECK_EQUAL(mdl_self->unmatched, 0);
}

static uint64_t nested_ticks(int function) { return ((struct mdl_row **)mdl_self->rows)[function]->nested; }

static void shouldTellNestedCallsApart(void) {
  uint64_t stack[16] = {0};
  whole_fixture();
  for (int round = 0; round < 2; round++) { /* without a row at first */
    struct mdl_frame *outer = enter(0, &stack[14]);
    struct mdl_frame *between = enter(1, &stack[12]);
    struct mdl_frame *inner = enter(0, &stack[10]);
    struct mdl_frame *innermost = enter(0, &stack[8]);
    calls_leave(innermost, __rdtsc());
    calls_leave(inner, __rdtsc());
    uint64_t inside = ((struct mdl_row **)mdl_self->rows)[0]->nested;
    CHECK(inside > 0);
    calls_leave(between, __rdtsc());
    calls_leave(outer, __rdtsc());
    CHECK_EQUAL(nested_ticks(0), inside);
    CHECK_EQUAL(nested_ticks(1), 0);
  }
  CHECK_EQUAL(recorded(0), 6);
  uint64_t before = nested_ticks(0);
  enter(0, &stack[14]); /* left by a jump, as is the one above it */
  enter(0, &stack[12]);
  stack[14] = 0x1234;
  struct mdl_frame *again = enter(0, &stack[14]);
  calls_leave(again, __rdtsc());
  CHECK_EQUAL(nested_ticks(0), before);
}

static void *return_in_a_child(void *frame) {
  record_thread(); /* what a forked child has: a block, and a shadow stack, of its own */
  calls_leave(frame, __rdtsc());
  struct mdl_row *row = ((struct mdl_row **)mdl_self->rows)[3];
  CHECK(!row || row->count == 0);
  return NULL;
}

static void shouldNotRecordTheReturnOfAForkedParentsCall(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  struct mdl_frame *frame = enter(3, &stack[4]);
  pthread_t thread;
  pthread_create(&thread, NULL, return_in_a_child, frame);
  pthread_join(thread, NULL);
}

static void shouldKnowSiblingCallFromLeftOverFrame(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  struct mdl_frame *first = enter(0, &stack[4]);
  struct mdl_frame *sibling = enter(1, &stack[4]); /* returns to the stub of the first */
  CHECK(sibling == first + 1);
  CHECK_EQUAL(sibling->sibling, 1);
  CHECK_EQUAL(first->sibling, 0);
  calls_leave(sibling, __rdtsc());
  calls_leave(first, __rdtsc());
  CHECK_EQUAL(mdl_self->unmatched, 0);

  enter(0, &stack[4]);
  enter(1, &stack[2]);
  stack[4] = 0x1234; /* a new call from where longjmp went: its caller's address is in the slot */
  struct mdl_frame *again = enter(0, &stack[4]);
  CHECK(again == first);
  CHECK_EQUAL(again->sibling, 0);
  CHECK_EQUAL(mdl_self->unmatched, 2);
  CHECK_EQUAL(calls(0), 3);
}

static void shouldCountFramesThatAReturnLeavesBehind(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  struct mdl_frame *outer = enter(0, &stack[6]);
  enter(1, &stack[4]);
  enter(2, &stack[2]);
  calls_leave(outer, __rdtsc());
  CHECK_EQUAL(depth(), 0);
  CHECK_EQUAL(mdl_self->unmatched, 2);
  CHECK_EQUAL(recorded(0), 1);
  CHECK_EQUAL(recorded(1) + recorded(2), 0);
}

static void shouldLetCallsOnOtherStacksReturnInAnyOrder(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  struct mdl_frame *own = enter(0, &stack[4]);
  struct mdl_frame *frames[8];
  for (int i = 0; i < 8; i++) {
    frames[i] = enter(i, &slots[4 * i]);
    CHECK(frames[i]->flags & MDL_FRAME_POOLED);
    frames[i]->rbx = 100 + (uint64_t)i;
  }
  CHECK_EQUAL(depth(), 1);
  for (int i = 0; i < 8; i += 2) {
    calls_leave(frames[i], __rdtsc());
  }
  for (int i = 1; i < 8; i += 2) {
    CHECK_EQUAL(frames[i]->rbx, 100 + (uint64_t)i);
    CHECK_EQUAL(frames[i]->key, key_of(&slots[4 * i]));
    calls_leave(frames[i], __rdtsc());
  }
  calls_leave(own, __rdtsc());
  CHECK_EQUAL(recorded(0), 2);
  CHECK_EQUAL(recorded(7), 1);
  CHECK_EQUAL(mdl_self->unmatched, 0);
}

static void *leave_elsewhere(void *frame) {
  calls_leave(frame, __rdtsc());
  return NULL;
}

static void shouldLetAnotherThreadReturn(void) {
  whole_fixture();
  struct mdl_frame *frame = enter(3, &slots[0]);
  pthread_t thread;
  pthread_create(&thread, NULL, leave_elsewhere, frame);
  pthread_join(thread, NULL);
  CHECK_EQUAL(frame->key, 0);
  struct mdl_frame *again = enter(3, &slots[0]);
  CHECK(again == frame);
}

static void shouldReuseFrameOfACoroutineThatIsGone(void) {
  whole_fixture();
  struct mdl_frame *frame = enter(3, &slots[0]);
  slots[0] = 0x1234;
  CHECK(enter(4, &slots[0]) == frame);
  CHECK_EQUAL(mdl_self->unmatched, 1);
  struct mdl_frame *sibling = enter(5, &slots[0]);
  CHECK(sibling != frame);
  CHECK_EQUAL(sibling->sibling, 1);
}

static void shouldDoWithoutFrameWhenThePoolIsFull(void) {
  enum { MANY = 1 << 17 };
  whole_fixture();
  uint64_t *many = mmap(NULL, MANY * sizeof *many, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(many != MAP_FAILED);
  uint64_t frames = 0;
  for (int i = 0; i < MANY; i++) {
    frames += enter(0, &many[i]) != NULL;
  }
  CHECK(frames > 32768);
  CHECK(frames <= 65536);
  CHECK_EQUAL(mdl_self->overflow, MANY - frames);
  CHECK_EQUAL(calls(0), MANY);
}

/* A handler's calls on a stack inside the thread's own, above what it interrupts. */
static void shouldKeepFramesWhenTheSignalStackIsInsideTheThreads(void) {
  uint64_t handler_stack[8192 / sizeof(uint64_t) + 1024];
  uint64_t stack[8] = {0};
  whole_fixture();
  CHECK((uintptr_t)handler_stack > (uintptr_t)__builtin_frame_address(0) - 65536);
  uint64_t *low = (uintptr_t)stack < (uintptr_t)handler_stack ? stack : handler_stack;
  uint64_t *high = low == stack ? handler_stack : stack;
  stack_t alternate = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
  CHECK_EQUAL(sigaltstack(&alternate, NULL), 0);
  struct mdl_frame *interrupted = enter(0, &low[4]);
  uint64_t key = interrupted->key;
  struct mdl_frame *handlers = enter(1, &high[4]);
  CHECK(handlers->flags & MDL_FRAME_POOLED);
  CHECK_EQUAL(interrupted->key, key);
  calls_leave(handlers, __rdtsc());
  calls_leave(interrupted, __rdtsc());
  CHECK_EQUAL(recorded(0), 1);
  CHECK_EQUAL(recorded(1), 1);
  CHECK_EQUAL(mdl_self->unmatched, 0);
}

static void shouldDistrustAStackThatAnotherIsInside(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  struct mdl_frame *before = enter(0, &stack[2]);
  record_other_stack(slots);
  calls_leave(enter(1, &stack[1]), __rdtsc());
  CHECK_EQUAL(depth(), 1);
  record_other_stack(stack);
  struct mdl_frame *after = enter(1, &stack[6]);
  CHECK(!(before->flags & MDL_FRAME_POOLED));
  CHECK(after->flags & MDL_FRAME_POOLED);
  CHECK_EQUAL(before->key, key_of(&stack[2]));
}

static void shouldNotRecordOnThreadsThatAreMute(void) {
  uint64_t stack[8] = {0};
  whole_fixture();
  record_mute_thread();
  CHECK(enter(0, &stack[4]) == NULL);
}

static void *stack_bounds(void *out) {
  *(struct stack *)out = stack_of_thread();
  return NULL;
}

static void shouldFindTheStackOfEachKindOfThread(void) {
  whole_fixture();
  struct stack first = stack_of_thread();
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
  const uint64_t told[SNIPPET_ARGUMENTS] = {FILE_OPENED, 1, (uintptr_t)"/a", 0, 0, 3};
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

TESTS({"shouldTellNestedCallsApart", shouldTellNestedCallsApart},
      {"shouldNotRecordTheReturnOfAForkedParentsCall", shouldNotRecordTheReturnOfAForkedParentsCall},
      {"shouldEndWithTheThreadWhatSnippetsHaveBegun", shouldEndWithTheThreadWhatSnippetsHaveBegun},
      {"shouldCallForSnippetsUnlessTheThreadIsInACall", shouldCallForSnippetsUnlessTheThreadIsInACall},
      {"shouldTellOfDescriptorsInACallToo", shouldTellOfDescriptorsInACallToo},
      {"shouldLeaveTheSnippetWhoseCallEndsTheThread", shouldLeaveTheSnippetWhoseCallEndsTheThread},
      {"shouldNestOnTheThreadsOwnStack", shouldNestOnTheThreadsOwnStack},
      {"shouldKnowSiblingCallFromLeftOverFrame", shouldKnowSiblingCallFromLeftOverFrame},
      {"shouldCountFramesThatAReturnLeavesBehind", shouldCountFramesThatAReturnLeavesBehind},
      {"shouldLetCallsOnOtherStacksReturnInAnyOrder", shouldLetCallsOnOtherStacksReturnInAnyOrder},
      {"shouldLetAnotherThreadReturn", shouldLetAnotherThreadReturn},
      {"shouldReuseFrameOfACoroutineThatIsGone", shouldReuseFrameOfACoroutineThatIsGone},
      {"shouldDoWithoutFrameWhenThePoolIsFull", shouldDoWithoutFrameWhenThePoolIsFull},
      {"shouldKeepFramesWhenTheSignalStackIsInsideTheThreads", shouldKeepFramesWhenTheSignalStackIsInsideTheThreads},
      {"shouldDistrustAStackThatAnotherIsInside", shouldDistrustAStackThatAnotherIsInside},
      {"shouldNotRecordOnThreadsThatAreMute", shouldNotRecordOnThreadsThatAreMute},
      {"shouldFindTheStackOfEachKindOfThread", shouldFindTheStackOfEachKindOfThread})
