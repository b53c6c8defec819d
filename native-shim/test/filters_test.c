/* Which seccomp filters the injector of `mdl attach` accepts. */
#include "../attach/filters.h"

#include "check.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

enum { NUMBER = offsetof(struct seccomp_data, nr), ARGUMENT = offsetof(struct seccomp_data, args) };
enum { LOAD = BPF_LD | BPF_W | BPF_ABS, EQUAL = BPF_JMP | BPF_JEQ | BPF_K, RETURN = BPF_RET | BPF_K };

static struct filters filters;

static void add(const struct sock_filter *code, size_t length) {
  size_t at = filters.start[filters.count];
  memcpy(&filters.code[at], code, length * sizeof *code);
  filters.start[++filters.count] = at + length;
}

#define ADD(...)                                         \
  do {                                                   \
    const struct sock_filter code_[] = {__VA_ARGS__};    \
    add(code_, sizeof code_ / sizeof *code_);            \
  } while (0)

/* One call gets one result, all others another. */
static void add_exception(uint32_t number, uint32_t result, uint32_t otherwise) {
  ADD(BPF_STMT(LOAD, NUMBER), BPF_JUMP(EQUAL, number, 0, 1), BPF_STMT(RETURN, result), BPF_STMT(RETURN, otherwise));
}

static void check_accepted(void) { CHECK_TEXT(filters_objection(&filters) ? filters_objection(&filters) : "none", "none"); }

static void check_refused(const char *part) {
  const char *objection = filters_objection(&filters);
  CHECK(objection && strstr(objection, part));
}

static void shouldAcceptErrorsOfOtherCalls(void) {
  check_accepted();
  add_exception(SYS_perf_event_open, SECCOMP_RET_ERRNO | 1, SECCOMP_RET_ALLOW);
  check_accepted();
  add_exception(SYS_mount, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_LOG);
  check_accepted();
}

static void shouldRefuseWhatEndsTheProcess(void) {
  static const uint32_t harms[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, 0x12340000};
  for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
    filters.count = 0;
    add_exception(SYS_membarrier, harms[i], SECCOMP_RET_ALLOW);
    check_refused("such as number 324");
    filters.count = 0;
    add_exception(SYS_read, SECCOMP_RET_ALLOW, harms[i]);
    check_refused("such as number 1,");
  }
}

static void shouldRefuseErrorsOfCallsThatTheAgentNeeds(void) {
  add_exception(SYS_mmap, SECCOMP_RET_ERRNO | 1, SECCOMP_RET_ALLOW);
  check_refused("denies mmap");
}

static void shouldLookAtAllFilters(void) {
  add_exception(SYS_read, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW);
  add_exception(SYS_openat, SECCOMP_RET_TRAP, SECCOMP_RET_ALLOW);
  add_exception(SYS_read, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW);
  check_refused("such as number 257");
}

/* Docker's filter looks at the flags of clone() in this way. */
static void shouldConsiderAllArguments(void) {
  ADD(BPF_STMT(LOAD, NUMBER), BPF_JUMP(EQUAL, SYS_clone, 0, 3), BPF_STMT(LOAD, ARGUMENT),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7E020000, 0, 1), BPF_STMT(RETURN, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(RETURN, SECCOMP_RET_ALLOW));
  check_accepted();
  filters.count = 0;
  ADD(BPF_STMT(LOAD, NUMBER), BPF_JUMP(EQUAL, SYS_clone, 0, 3), BPF_STMT(LOAD, ARGUMENT),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7E020000, 0, 1), BPF_STMT(RETURN, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(RETURN, SECCOMP_RET_ALLOW));
  check_refused("such as number 56");
}

static void shouldKnowTheArchitectureAndTheNumber(void) {
  ADD(BPF_STMT(LOAD, offsetof(struct seccomp_data, arch)), BPF_JUMP(EQUAL, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(RETURN, SECCOMP_RET_KILL_PROCESS), BPF_STMT(LOAD, NUMBER),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), BPF_STMT(RETURN, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x1000), BPF_JUMP(EQUAL, 0, 1, 0), BPF_STMT(RETURN, SECCOMP_RET_TRAP),
      BPF_STMT(RETURN, SECCOMP_RET_ALLOW));
  check_accepted();
}

/* ---- against an interpreter */

static uint64_t seed = 88172645463325252u;

static uint32_t random_below(uint32_t limit) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 32) % limit;
}

enum { LENGTH = 14 };

static void make(struct sock_filter *code) {
  static const uint32_t results[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_TRAP};
  static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
  static const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
  for (uint32_t at = 0; at < LENGTH; at++) {
    uint32_t left = LENGTH - 1 - at;
    uint16_t source = random_below(4) ? BPF_K : BPF_X;
    switch (left < 2 ? 0 : random_below(8)) {
      case 0: code[at] = (struct sock_filter)BPF_STMT(RETURN, results[random_below(3)]); break;
      case 1: code[at] = (struct sock_filter)BPF_STMT(LOAD, 4 * random_below(sizeof(struct seccomp_data) / 4)); break;
      case 2: code[at] = (struct sock_filter)BPF_STMT(BPF_ALU | operations[random_below(9)] | source, random_below(8)); break;
      case 3: code[at] = (struct sock_filter)BPF_STMT(BPF_MISC | (random_below(2) ? BPF_TAX : BPF_TXA), 0); break;
      case 4: code[at] = (struct sock_filter)BPF_STMT(random_below(2) ? BPF_ST : BPF_LD | BPF_MEM, 3); break;
      default:
        code[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | jumps[random_below(4)] | source, random_below(8),
                                                (uint8_t)random_below(left), (uint8_t)random_below(left));
    }
  }
}

static uint32_t run(const struct sock_filter *code, const struct seccomp_data *data) {
  uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};
  for (size_t at = 0;; at++) {
    uint32_t k = BPF_SRC(code[at].code) == BPF_X && BPF_CLASS(code[at].code) != BPF_RET ? x : code[at].k;
    switch (BPF_CLASS(code[at].code)) {
      case BPF_RET: return code[at].k;
      case BPF_ST: memory[code[at].k] = a; break;
      case BPF_LD:
        a = BPF_MODE(code[at].code) == BPF_MEM ? memory[code[at].k] : ((const uint32_t *)(const void *)data)[code[at].k / 4];
        break;
      case BPF_MISC:
        if (BPF_MISCOP(code[at].code) == BPF_TAX) {
          x = a;
        } else {
          a = x;
        }
        break;
      case BPF_ALU:
        switch (BPF_OP(code[at].code)) {
          case BPF_ADD: a += k; break;
          case BPF_SUB: a -= k; break;
          case BPF_MUL: a *= k; break;
          case BPF_AND: a &= k; break;
          case BPF_OR: a |= k; break;
          case BPF_XOR: a ^= k; break;
          case BPF_LSH: a <<= k & 31; break;
          case BPF_RSH: a >>= k & 31; break;
          default: a = -a;
        }
        break;
      default: {
        bool holds = BPF_OP(code[at].code) == BPF_JEQ   ? a == k
                     : BPF_OP(code[at].code) == BPF_JGT ? a > k
                     : BPF_OP(code[at].code) == BPF_JGE ? a >= k
                                                        : (a & k) != 0;
        at += holds ? code[at].jt : code[at].jf;
      }
    }
  }
}

/* What a filter does with some call, the objection must have considered. */
static void shouldAcceptNoFilterThatDoesHarm(void) {
  enum { ROUNDS = 3000, CALLS_OF_EACH = 500 };
  int harmful = 0, accepted = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct sock_filter code[LENGTH];
    make(code);
    filters.count = 0;
    add(code, LENGTH);
    bool may_harm = filters_objection(&filters) && strstr(filters_objection(&filters), "may end it");
    bool harms = false;
    for (int i = 0; i < CALLS_OF_EACH; i++) {
      struct seccomp_data data = {.nr = (int)random_below(i % 2 ? 8 : 512), .arch = AUDIT_ARCH_X86_64};
      for (int argument = 0; argument < 6; argument++) {
        data.args[argument] = random_below(8);
      }
      data.instruction_pointer = random_below(8);
      harms |= run(code, &data) == SECCOMP_RET_TRAP;
    }
    CHECK(!harms || may_harm);
    harmful += harms;
    accepted += !may_harm;
  }
  CHECK(harmful > ROUNDS / 10 && accepted > ROUNDS / 20);
}

#define TEST(function) {#function, function}
TESTS(TEST(shouldAcceptErrorsOfOtherCalls), TEST(shouldRefuseWhatEndsTheProcess),
      TEST(shouldRefuseErrorsOfCallsThatTheAgentNeeds), TEST(shouldLookAtAllFilters), TEST(shouldConsiderAllArguments),
      TEST(shouldKnowTheArchitectureAndTheNumber), TEST(shouldAcceptNoFilterThatDoesHarm))
