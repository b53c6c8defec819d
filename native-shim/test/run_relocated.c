/*
 * Runs instructions in place and their copies elsewhere, from the same state, and compares the effects on
 * registers, flags, vector and x87 state and memory; a signal is a result like any other.
 * RelocatorExecutionTest writes the file of cases and reads the output: a line for each of the first cases
 * that differ, and the totals. A second file gets one byte per case: how it ended, in place. This is a
 * separate program because no JVM would survive what such instructions do to a process.
 */
#include <assert.h>
#include <cpuid.h>
#include <fcntl.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
  CODE_BYTES = 65536,
  DATA_BYTES = 8192,
  STACK_BYTES = 8192,
  XSTATE_BYTES = 16384,
  GATES = 4,
  GATE_BYTES = 16,
  RETURN = 0x100,
  REGISTERS = 16,
  RSP = 4,
  REPORTED = 20,
  CPU_SECONDS = 60,
  INT3 = 0xCC
};

/* x87, SSE, AVX and AVX-512; not the protection keys, which could make memory inaccessible. */
#define COMPONENTS 0xE7u
#define FLAGS 0xCD5u /* CF PF AF ZF SF DF OF */

struct file_header {
  uint64_t gates;  /* CODE_BYTES: gates, a ret at RETURN; registers and memory hold their addresses */
  uint64_t code;   /* CODE_BYTES: the original instructions and their surroundings */
  uint64_t copies; /* CODE_BYTES: copies within reach of everything else */
  uint64_t far;    /* CODE_BYTES: copies out of reach */
  uint64_t data;   /* DATA_BYTES */
  uint64_t stack;  /* STACK_BYTES */
  uint64_t cases;
  uint8_t data_image[DATA_BYTES];
  uint8_t stack_image[STACK_BYTES];
};

struct file_case {
  uint64_t address; /* of the original instructions */
  uint64_t at;      /* of their copy */
  uint64_t registers[REGISTERS];
  uint64_t flags;
  uint16_t length;      /* of the original instructions */
  uint16_t copy_length; /* of their copy */
  uint16_t before;      /* bytes of the surroundings before the original instructions */
  uint16_t around;      /* length of the surroundings, the original instructions included */
  uint32_t calls;       /* 1 when the last instruction is an indirect call */
  uint32_t pad;
  /* the surroundings, the copy */
};

struct state {
  uint64_t registers[REGISTERS]; /*   0 in the order of their encodings */
  uint64_t flags;                /* 128 */
  uint64_t end;                  /* 136 the gate, or 100 + signal */
  uint64_t fault;                /* 144 the address that the signal reports */
};
static_assert(offsetof(struct state, flags) == 128 && offsetof(struct state, end) == 136, "see the assembly");

struct outcome {
  struct state state;
  uint8_t xstate[XSTATE_BYTES];
  uint8_t data[DATA_BYTES];
  uint8_t stack[STACK_BYTES];
};

/* Used by the assembly. */
struct state run_in, run_out;
alignas(64) uint8_t run_xstate_in[XSTATE_BYTES], run_xstate_out[XSTATE_BYTES], run_xstate_own[XSTATE_BYTES];
uint64_t run_components, run_entry, run_stack;
void run_code(void);
void run_resume(void);
extern const uint64_t run_gates[GATES];

static const struct file_header *header;
static uint8_t *code, *copies, *far_copies; /* aliases of the executed code */
static uint32_t xstate_size;

__asm__(
    "  .text\n"
    "  .macro registers operation\n"
    "  \\operation %rax, 0\n  \\operation %rcx, 8\n  \\operation %rdx, 16\n  \\operation %rbx, 24\n"
    "  \\operation %rbp, 40\n  \\operation %rsi, 48\n  \\operation %rdi, 56\n  \\operation %r8, 64\n"
    "  \\operation %r9, 72\n  \\operation %r10, 80\n  \\operation %r11, 88\n  \\operation %r12, 96\n"
    "  \\operation %r13, 104\n  \\operation %r14, 112\n  \\operation %r15, 120\n  \\operation %rsp, 32\n"
    "  .endm\n"
    "  .macro get register offset\n  mov run_in + \\offset(%rip), \\register\n  .endm\n"
    "  .macro put register offset\n  mov \\register, run_out + \\offset(%rip)\n  .endm\n"
    "  .macro components\n  mov run_components(%rip), %eax\n  xor %edx, %edx\n  .endm\n"

    "  .globl run_code\n  .hidden run_code\n  .type run_code, @function\n"
    "run_code:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, run_stack(%rip)\n"
    "  components\n"
    "  xrstor64 run_xstate_in(%rip)\n"
    "  push run_in + 128(%rip)\n  popf\n"
    "  registers get\n"
    "  jmp *run_entry(%rip)\n"

    "  .macro gate number\n"
    "run_gate_\\number:\n"
    "  movq $\\number, run_out + 136(%rip)\n"
    "  jmp run_capture\n"
    "  .endm\n"
    "  gate 0\n  gate 1\n  gate 2\n  gate 3\n"
    "run_capture:\n"
    "  registers put\n"
    "  mov run_stack(%rip), %rsp\n"
    "  pushf\n  pop run_out + 128(%rip)\n"
    "  .globl run_resume\n  .hidden run_resume\n"
    "run_resume:\n"
    "  cld\n"
    "  components\n"
    "  xsave64 run_xstate_out(%rip)\n"
    "  xrstor64 run_xstate_own(%rip)\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n"
    "  ret\n"
    "  .size run_code, . - run_code\n"

    "  .section .data.rel.ro, \"aw\"\n  .balign 8\n"
    "  .globl run_gates\n  .hidden run_gates\n"
    "run_gates:\n"
    "  .quad run_gate_0, run_gate_1, run_gate_2, run_gate_3\n"
    "  .text\n");

static void die(const char *what) {
  perror(what);
  exit(2);
}

static void on_signal(int signal_number, siginfo_t *info, void *context) {
  static const int order[REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  for (int i = 0; i < REGISTERS; i++) {
    run_out.registers[i] = (uint64_t)registers[order[i]];
  }
  run_out.flags = (uint64_t)registers[REG_EFL];
  run_out.fault = (uintptr_t)info->si_addr;
  run_out.end = 100 + (uint64_t)signal_number;
  registers[REG_RIP] = (greg_t)(uintptr_t)run_resume;
  registers[REG_RSP] = (greg_t)run_stack;
}

static void catch_signals(void) {
  static uint8_t stack[65536];
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  if (sigaltstack(&alternate, NULL) < 0) {
    die("sigaltstack");
  }
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (sigaction(signals[i], &action, NULL) < 0) {
      die("sigaction");
    }
  }
}

static void map(uint64_t at, size_t bytes, int protection, int flags, int file) {
  if (mmap((void *)at, bytes, protection, flags | MAP_FIXED_NOREPLACE, file, 0) != (void *)at) {
    die("mmap");
  }
}

/* Memory for code. Stores by the instructions under test would persist in it, so it is written through
 * another mapping. */
static uint8_t *map_code(uint64_t at) {
  int file = memfd_create("code", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, CODE_BYTES) < 0) {
    die("memfd");
  }
  map(at, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, file);
  uint8_t *alias = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (alias == MAP_FAILED) {
    die("mmap");
  }
  close(file);
  return alias;
}

static void map_all(void) {
  uint8_t *gates = map_code(header->gates);
  code = map_code(header->code);
  copies = map_code(header->copies);
  far_copies = map_code(header->far);
  map(header->data, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  map(header->stack, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  gates[RETURN] = 0xC3;
  for (int i = 0; i < GATES; i++) {
    static const uint8_t jump[6] = {0xFF, 0x25}; /* jmp *0(%rip) */
    memcpy(gates + i * GATE_BYTES, jump, sizeof jump);
    memcpy(gates + i * GATE_BYTES + sizeof jump, &run_gates[i], sizeof run_gates[i]);
  }
}

/* Every component in use, and filled with the data image's bytes. */
static void make_xstate(void) {
  static const uint8_t control[32] = {0x7F, 0x03, 0, 0, 0xFF, [24] = 0x80, 0x1F}; /* FCW, FTW, MXCSR */
  uint32_t enabled, high, unused;
  __cpuid_count(0xD, 0, enabled, xstate_size, unused, high);
  if (xstate_size > XSTATE_BYTES) {
    fprintf(stderr, "%u bytes of processor state\n", xstate_size);
    exit(2);
  }
  __asm__("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
  run_components = enabled & COMPONENTS;
  __asm__ volatile("xsave64 %0" : "+m"(run_xstate_own) : "a"((uint32_t)run_components), "d"(0));
  for (uint32_t i = sizeof control; i < xstate_size; i++) {
    run_xstate_in[i] = header->data_image[i % DATA_BYTES];
  }
  memset(run_xstate_in + 416, 0, 576 - 416);
  memcpy(run_xstate_in, control, sizeof control);
  memcpy(run_xstate_in + 512, &run_components, sizeof run_components);
}

/* What may legitimately differ: the address and opcode of the last x87 instruction, and which components
 * the processor found in their initial state. */
static void normalise(uint8_t *xstate) {
  static const uint8_t initial[6] = {0x7F, 0x03};
  memset(xstate + 6, 0, 24 - 6);
  if (!(xstate[512] & 1)) {
    memcpy(xstate, initial, sizeof initial);
    memset(xstate + 32, 0, 160 - 32);
  }
  memset(xstate + 416, 0, 576 - 416);
}

static void run(const struct file_case *test, uint64_t entry, struct outcome *outcome) {
  memcpy((void *)header->data, header->data_image, DATA_BYTES);
  memcpy((void *)header->stack, header->stack_image, STACK_BYTES);
  memcpy(run_in.registers, test->registers, sizeof run_in.registers);
  run_in.flags = test->flags;
  run_entry = entry;
  memset(&run_out, 0, sizeof run_out);
  memset(run_xstate_out, 0, xstate_size);
  run_code();
  run_out.flags &= FLAGS;
  outcome->state = run_out;
  normalise(run_xstate_out);
  memcpy(outcome->xstate, run_xstate_out, xstate_size);
  memcpy(outcome->data, (void *)header->data, DATA_BYTES);
  memcpy(outcome->stack, (void *)header->stack, STACK_BYTES);
}

/* The address that a signal reports, if it is not the instruction's own. */
static uint64_t fault_of(const struct outcome *outcome, uint64_t start, uint64_t length) {
  uint64_t fault = outcome->state.fault;
  return fault - start < length ? 0 : fault;
}

static void forget_word(uint8_t *bytes, uint64_t size, uint64_t start, uint64_t address) {
  if (address - start <= size - sizeof(uint64_t)) {
    memset(bytes + (address - start), 0, sizeof(uint64_t));
  }
}

/* An indirect call's copy leaves its target in the word below the return address, which the callee may have
 * popped. */
static void forget_dead_stack(struct outcome *outcome) {
  for (uint64_t below = 8; below <= 16; below += 8) {
    uint64_t dead = outcome->state.registers[RSP] - below;
    forget_word(outcome->stack, STACK_BYTES, header->stack, dead);
    forget_word(outcome->data, DATA_BYTES, header->data, dead);
  }
}

static const char *difference(const struct file_case *test, struct outcome *original, struct outcome *copy) {
  static const char *const names[REGISTERS] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                               "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  if (original->state.end != copy->state.end) {
    return "end";
  }
  if (test->calls) {
    if (original->state.end >= 100) {
      return NULL; /* for a wild call, the processor may undo its push; the copy does not */
    }
    forget_dead_stack(original);
    forget_dead_stack(copy);
  }
  for (int i = 0; i < REGISTERS; i++) {
    if (original->state.registers[i] != copy->state.registers[i]) {
      return names[i];
    }
  }
  if (original->state.flags != copy->state.flags) {
    return "flags";
  }
  if (fault_of(original, test->address, test->length) != fault_of(copy, test->at, test->copy_length)) {
    return "fault";
  }
  if (memcmp(original->xstate, copy->xstate, xstate_size) != 0) {
    return "xstate";
  }
  if (memcmp(original->data, copy->data, DATA_BYTES) != 0) {
    return "data";
  }
  return memcmp(original->stack, copy->stack, STACK_BYTES) == 0 ? NULL : "stack";
}

static int run_all(volatile uint64_t *current, FILE *ends) {
  static struct outcome original, copy;
  uint64_t differences = 0;
  const uint8_t *next = (const uint8_t *)(header + 1);
  map_all();
  make_xstate();
  catch_signals();
  for (*current = 0; *current < header->cases; ++*current) {
    struct file_case test;
    memcpy(&test, next, sizeof test);
    const uint8_t *around = next + sizeof test;
    const uint8_t *relocated = around + test.around;
    next = relocated + test.copy_length;
    uint8_t *original_code = code + (test.address - header->code);
    memcpy(original_code - test.before, around, test.around);
    run(&test, test.address, &original);
    memset(original_code, INT3, test.length); /* a thread that still comes here is caught */
    bool far = test.at - header->far < CODE_BYTES;
    memcpy(far ? far_copies + (test.at - header->far) : copies + (test.at - header->copies), relocated,
           test.copy_length);
    run(&test, test.at, &copy);
    const char *what = difference(&test, &original, &copy);
    if (what && differences++ < REPORTED) {
      printf("case %llu: %s differs; ended at %llu, the copy at %llu\n", (unsigned long long)*current, what,
             (unsigned long long)original.state.end, (unsigned long long)copy.state.end);
    }
    putc((int)original.state.end, ends);
  }
  printf("%llu cases, %llu differences\n", (unsigned long long)header->cases, (unsigned long long)differences);
  return fflush(ends) || fflush(stdout) || differences;
}

int main(int count, char **words) {
  struct stat status;
  int file = count == 3 ? open(words[1], O_RDONLY | O_CLOEXEC) : -1;
  FILE *ends = count == 3 ? fopen(words[2], "w") : NULL;
  if (file < 0 || fstat(file, &status) < 0 || !ends) {
    die("run_relocated CASES ENDS");
  }
  header = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  uint64_t *current =
      mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (header == MAP_FAILED || current == MAP_FAILED) {
    die("mmap");
  }
  pid_t child = fork();
  if (child < 0) {
    die("fork");
  }
  if (child == 0) {
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    _exit(run_all(current, ends));
  }
  int result;
  if (waitpid(child, &result, 0) != child) {
    die("waitpid");
  }
  if (WIFSIGNALED(result)) {
    printf("case %llu: the process died of signal %d\n", (unsigned long long)*current, WTERMSIG(result));
    return 3;
  }
  return WEXITSTATUS(result);
}
