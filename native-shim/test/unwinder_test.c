/* Unwinding of copied stacks: real ones of this program, and made-up ones with made-up unwind tables. */
#include "agent/unwinder.h"

#include "code/unwind.h"
#include "fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { FRAMES = 64, STACK_BYTES = 16384 };

static uint8_t copied[STACK_BYTES];
static struct stack_sample sample;
static struct stack_frame frames[FRAMES];
static size_t count;
static enum stack_end end;

extern void *__libc_stack_end;

/* A signal handler's registers in DWARF's order. */
static const int order[CFI_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                         REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

/* What the kernel does at a sample. */
static void record(const ucontext_t *context) {
  for (int i = 0; i < CFI_REGISTERS; i++) {
    sample.registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
  }
  uint64_t length = (uintptr_t)__libc_stack_end - sample.registers[CFI_RSP];
  sample.length = length < STACK_BYTES ? length : STACK_BYTES;
  memcpy(copied, (const void *)sample.registers[CFI_RSP], sample.length);
  sample.bytes = copied;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  record(context);
}

static void walk(void) {
  unwinder_refresh();
  count = unwinder_walk(&sample, frames, FRAMES, &end);
}

static volatile int sink;
#define CALLED __attribute__((noinline, noclone))

CALLED static void leaf(void) {
  raise(SIGUSR1);
  sink++;
}
CALLED static void recurse(int depth) {
  volatile char room[48] = {0};
  if (depth > 0) {
    recurse(depth - 1);
  } else {
    leaf();
  }
  sink += room[0];
}
CALLED static void first(void) {
  recurse(3);
  sink++;
}
CALLED static void second(void) {
  recurse(0);
  sink++;
}
static int compare(const void *a, const void *b) {
  leaf();
  return *(const int *)a - *(const int *)b;
}
CALLED static void through_a_library(void) {
  int values[2] = {2, 1};
  qsort(values, 2, sizeof *values, compare);
  sink++;
}

/* How often code that starts at `function` is on the path. */
static int seen(const void *function) {
  int times = 0;
  for (size_t i = 0; i < count; i++) {
    times += frames[i].start == (uintptr_t)function;
  }
  return times;
}

static void prepare(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  process_start();
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}

static void shouldFindAllCallersOfACopiedStack(void) {
  prepare();
  first();
  walk();
  CHECK_EQUAL(end, STACK_WHOLE);
  CHECK_EQUAL(seen((void *)leaf), 1);
  CHECK_EQUAL(seen((void *)recurse), 4);
  CHECK_EQUAL(seen((void *)first), 1);
  CHECK_EQUAL(seen((void *)second), 0);
}

static void shouldTellCallersApart(void) {
  prepare();
  second();
  walk();
  CHECK_EQUAL(end, STACK_WHOLE);
  CHECK_EQUAL(seen((void *)recurse), 1);
  CHECK_EQUAL(seen((void *)first), 0);
  CHECK_EQUAL(seen((void *)second), 1);
}

static void shouldPassThroughLibraries(void) {
  prepare();
  through_a_library();
  walk();
  CHECK_EQUAL(end, STACK_WHOLE);
  CHECK_EQUAL(seen((void *)compare), 1);
  CHECK_EQUAL(seen((void *)through_a_library), 1);
  CHECK(frames[0].bias != frames[count - 1].bias); /* raise() is in libc */
}

static void shouldSayWhenTheStackWasNotCopiedAsFar(void) {
  prepare();
  first();
  sample.length = 256;
  walk();
  CHECK_EQUAL(end, STACK_CUT);
  CHECK(count > 0 && count < 8);
}

static void shouldSayWhenAPathIsTooLong(void) {
  prepare();
  first();
  unwinder_refresh();
  CHECK_EQUAL(unwinder_walk(&sample, frames, 3, &end), 3);
  CHECK_EQUAL(end, STACK_CUT);
}

/* A handler that is interrupted: its caller is not at a call, and all of its registers are known. */
static void on_second(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  (void)context;
  leaf();
  sink++;
}
CALLED static void interrupted(void) {
  raise(SIGUSR2);
  sink++;
}

static void shouldPassThroughTheFramesOfSignals(void) {
  struct sigaction action = {.sa_sigaction = on_second, .sa_flags = SA_SIGINFO};
  prepare();
  CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
  interrupted();
  walk();
  CHECK_EQUAL(end, STACK_WHOLE);
  CHECK_EQUAL(seen((void *)on_second), 1);
  CHECK_EQUAL(seen((void *)interrupted), 1);
}

/* ---- made-up code: one range of 64 bytes, described by the given instructions */

static uint8_t *area;

enum { HEADER = 0, EH_FRAME = 32, CODE = 2048 };

static void put32(size_t at, uint32_t value) { memcpy(area + at, &value, sizeof value); }

/* The CIE describes a function's first instruction: the return address is on top. */
static void describe(const uint8_t *instructions, uint8_t length) {
  static const uint8_t common[] = {0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0};
  make_scratch();
  remove_scratch();
  process_start();
  area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(area != MAP_FAILED);
  memcpy(area, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
  put32(4, EH_FRAME - 4);
  put32(8, 1);
  put32(12, CODE);
  put32(16, EH_FRAME + 24);
  put32(EH_FRAME, sizeof common);
  memcpy(area + EH_FRAME + 4, common, sizeof common);
  size_t at = EH_FRAME + 24;
  put32(at, 13u + length);
  put32(at + 4, (uint32_t)(at + 4 - EH_FRAME));
  put32(at + 8, (uint32_t)(CODE - (at + 8)));
  put32(at + 12, 64);
  area[at + 16] = 0;
  memcpy(area + at + 17, instructions, length);
  CHECK_EQUAL(unwind_trampolines((uintptr_t)area + CODE, 64, (uintptr_t)area), 0);
}

/* A thread at an offset in that code, called by leaf(), on a stack of `length` words. */
static void stand_at(uint64_t offset, const uint64_t *words, size_t length) {
  memset(&sample, 0, sizeof sample);
  for (int i = 0; i < CFI_REGISTERS; i++) {
    sample.registers[i] = 0x1000u + (uint64_t)i;
  }
  sample.registers[CFI_RSP] = 0x7000;
  sample.registers[CFI_RETURN] = (uintptr_t)area + CODE + offset;
  memcpy(copied, words, length * sizeof *words);
  sample.bytes = copied;
  sample.length = length * sizeof *words;
  walk();
}

static uint64_t in_leaf(void) { return (uintptr_t)leaf + 1; }

static void shouldPassThroughOurCodeAndLeaveItOut(void) {
  static const uint8_t rules[] = {0x44, 0x0e, 32}; /* from the fourth byte on, three more words are on the stack */
  describe(rules, sizeof rules);
  stand_at(0, (uint64_t[]){in_leaf(), 0}, 2);
  CHECK(frames[0].ours);
  CHECK_EQUAL(frames[1].start, (uintptr_t)leaf);
  stand_at(8, (uint64_t[]){1, 2, 3, in_leaf(), 0}, 5);
  CHECK(frames[0].ours);
  CHECK_EQUAL(frames[1].start, (uintptr_t)leaf);
}

/* The same stack without the rule for those words: the caller is not found. */
static void shouldNotFindACallerWithoutTheRuleForOurWords(void) {
  static const uint8_t none[] = {0};
  describe(none, sizeof none);
  stand_at(8, (uint64_t[]){1, 2, 3, in_leaf(), 0}, 5);
  CHECK(frames[0].ours);
  CHECK(count < 2 || frames[1].start != (uintptr_t)leaf);
}

/* RBX is still on the stack, below the stack pointer: it has been popped, and the next instruction returns. */
static void shouldFindTheCallerFromAnEpilogue(void) {
  static const uint8_t rules[] = {0x83, 3}; /* RBX at CFA - 24 */
  describe(rules, sizeof rules);
  stand_at(8, (uint64_t[]){in_leaf(), 0}, 2);
  CHECK_EQUAL(frames[1].start, (uintptr_t)leaf);
}

/* As in a stub: RSP + 8, and 24 more if a bit for the offset says so. */
static void shouldEvaluateTheExpressionOfStubs(void) {
  static const uint8_t rules[] = {0x0f, 22,   0x0e, 0xf0, 0xff, 0, 0, 0,    0,    0,    0,    0x80, 0, 0x08,
                                  63,   0x1a, 0x25, 0x31, 0x1a, 0x48, 0x1e, 0x77, 8,    0x22};
  describe(rules, sizeof rules);
  stand_at(3, (uint64_t[]){in_leaf(), 0}, 2);
  CHECK_EQUAL(frames[1].start, (uintptr_t)leaf);
  stand_at(4, (uint64_t[]){1, 2, 3, in_leaf(), 0}, 5);
  CHECK_EQUAL(frames[1].start, (uintptr_t)leaf);
}

static void shouldStopAtADescriptionThatItDoesNotUnderstand(void) {
  static const uint8_t unknown[] = {0x3f};
  describe(unknown, sizeof unknown);
  stand_at(8, (uint64_t[]){in_leaf(), 0}, 2);
  CHECK_EQUAL(end, STACK_UNKNOWN);
  CHECK_EQUAL(count, 1);
}

static void shouldStopInCodeThatNobodyDescribes(void) {
  prepare();
  stand_at(0, (uint64_t[]){in_leaf(), 0}, 2);
  CHECK_EQUAL(end, STACK_UNKNOWN);
  CHECK_EQUAL(count, 1);
  CHECK_EQUAL(frames[0].start, 0);
}

static bool area_memory(uint64_t at, void *to, size_t length) {
  uint64_t offset = at - (uintptr_t)area;
  if (offset > 4096 || length > 4096 - offset) {
    return false;
  }
  memcpy(to, area + offset, length);
  return true;
}

static bool no_word(const void *context, uint64_t at, uint64_t *value) {
  (void)context;
  *value = at * 3;
  return at % 2 == 0;
}

/* Whatever is in a table: reading it terminates, and reads nothing else. */
static void shouldSurviveAnyDescription(void) {
  enum { ROUNDS = 200000 };
  static const uint8_t none[120];
  static const uint64_t registers[CFI_REGISTERS] = {1, 2, 3};
  uint64_t random = 88172645463325252ULL;
  int found = 0, evaluated = 0;
  describe(none, sizeof none);
  for (int round = 0; round < ROUNDS; round++) {
    uint8_t *instructions = area + EH_FRAME + 24 + 17;
    for (size_t i = 0; i < sizeof none; i++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      instructions[i] = i % 4 == 0 ? (uint8_t)(random % 0x17) : (uint8_t)(random >> 8); /* often instructions with operands */
    }
    struct cfi_row row;
    if (cfi_find((uintptr_t)area, (uintptr_t)area + CODE + random % 64, area_memory, &row)) {
      found++;
      for (int i = 0; i < CFI_REGISTERS; i++) {
        uint64_t value;
        if (row.registers[i].kind >= CFI_EXPRESSION) {
          evaluated += cfi_evaluate(&row.registers[i], &random, registers, area_memory, no_word, NULL, &value);
        }
      }
    }
  }
  CHECK(found > 0 && found < ROUNDS);
  CHECK(evaluated > 0);
}

TESTS({"shouldFindAllCallersOfACopiedStack", shouldFindAllCallersOfACopiedStack},
      {"shouldTellCallersApart", shouldTellCallersApart},
      {"shouldPassThroughLibraries", shouldPassThroughLibraries},
      {"shouldSayWhenTheStackWasNotCopiedAsFar", shouldSayWhenTheStackWasNotCopiedAsFar},
      {"shouldSayWhenAPathIsTooLong", shouldSayWhenAPathIsTooLong},
      {"shouldPassThroughTheFramesOfSignals", shouldPassThroughTheFramesOfSignals},
      {"shouldPassThroughOurCodeAndLeaveItOut", shouldPassThroughOurCodeAndLeaveItOut},
      {"shouldNotFindACallerWithoutTheRuleForOurWords", shouldNotFindACallerWithoutTheRuleForOurWords},
      {"shouldFindTheCallerFromAnEpilogue", shouldFindTheCallerFromAnEpilogue},
      {"shouldEvaluateTheExpressionOfStubs", shouldEvaluateTheExpressionOfStubs},
      {"shouldStopAtADescriptionThatItDoesNotUnderstand", shouldStopAtADescriptionThatItDoesNotUnderstand},
      {"shouldStopInCodeThatNobodyDescribes", shouldStopInCodeThatNobodyDescribes},
      {"shouldSurviveAnyDescription", shouldSurviveAnyDescription})
