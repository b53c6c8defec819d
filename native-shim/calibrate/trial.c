/*
 * The native half of `mdl calibrate`: measures without judging. Prints one line per fact on stdout.
 *
 *   mdl-calibrate-trial machine
 *     hypervisor: TEXT         CPUID leaf 40000000h, where the processor says that it has one
 *     tsc_hz: N
 *
 *   mdl-calibrate-trial latency MILLIS GAP_MAX WRITER_CPU EXECUTOR_CPU
 *     ticks T COUNT            samples: from the store to the first execution of what was stored
 *     interrupted N            samples left out: writer or executor did not run for GAP_MAX ticks in between
 *     skewed N                 samples left out: seen before they were stored, by the two cores' counters
 *
 *   mdl-calibrate-trial patch locked|unlocked UNIT SPLIT WAIT MILLIS PATCHER_CPU EXECUTOR_CPU...
 *     toggles N                with an execution by every executor before and after
 *     executions N, traps N
 *     wrong N                  executions with a value that is neither the old nor the new instruction's
 *     signal N                 that killed the executors' process, 0 for none
 */
#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

enum {
  PAGE = 4096,
  CODE_SIZE = 2 * PAGE,
  LINE = 64,
  QUADWORD = 8,
  EXECUTORS_MAX = 6,
  LIFE_SECONDS_MAX = 60,
  HALT = 0xf4, /* privileged: kills a thread that executes it */
  TRAP = 0xcc,
};

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  _exit(1);
}

static long number(const char *text) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < 0) {
    fprintf(stderr, "not a number: %s\n", text);
    _exit(2);
  }
  return value;
}

static void pin(long cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) < 0) {
    fail("sched_setaffinity");
  }
}

static uint64_t nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The TSC after all earlier instructions have executed. */
static inline uint64_t ticks(void) {
  unsigned unused;
  return __rdtscp(&unused);
}

static inline void wait_ticks(uint64_t wait) {
  for (uint64_t start = __rdtsc(); __rdtsc() - start < wait;) {
    _mm_pause();
  }
}

/* xorshift64, so that stores do not fall into step with the executors. */
static uint64_t random_state = 0x9e3779b97f4a7c15u;
static uint64_t random_below(uint64_t bound) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % bound;
}

/* Two mappings, one executable and one writable, as in the agent. */
static uint8_t *map_code(uint8_t **alias, void *at) {
  int file = memfd_create("trial", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, CODE_SIZE) < 0) {
    fail("memfd_create");
  }
  *alias = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  uint8_t *code = mmap(at, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), file, 0);
  if (*alias == MAP_FAILED || code == MAP_FAILED) {
    fail("mmap");
  }
  close(file);
  memset(*alias, HALT, CODE_SIZE);
  return code;
}

/* ---- machine */

static int machine(void) {
  unsigned eax, ebx, ecx, edx;
  char hypervisor[13] = "";
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & 1u << 31)) {
    __cpuid(0x40000000, eax, ebx, ecx, edx);
    memcpy(hypervisor, &ebx, 4);
    memcpy(hypervisor + 4, &ecx, 4);
    memcpy(hypervisor + 8, &edx, 4);
  }
  uint64_t start_nanos = nanos(), start = ticks();
  struct timespec pause = {.tv_nsec = 20000000};
  nanosleep(&pause, NULL);
  uint64_t end_nanos = nanos(), end = ticks();
  printf("hypervisor: %s\ntsc_hz: %.0f\n", hypervisor, (double)(end - start) * 1e9 / (double)(end_nanos - start_nanos));
  return 0;
}

/* ---- latency */

enum { STOP = 0, EXACT_TICKS = 1 << 16 };

static struct {
  long cpu;
  uint32_t (*function)(void);
  alignas(LINE) _Atomic uint32_t seen; /* published after the two fields below */
  uint64_t at;
  uint64_t gap; /* the longer of the last two executions */
} observer;

static void *observe(void *unused) {
  (void)unused;
  pin(observer.cpu);
  uint32_t seen = STOP;
  uint64_t last_gap = 0;
  for (uint64_t before = ticks();;) {
    uint32_t value = observer.function();
    uint64_t now = ticks();
    uint64_t gap = now - before;
    if (value != seen) {
      seen = value;
      observer.at = now;
      /* An interrupt after the function would have delayed the previous execution's time stamp. */
      observer.gap = gap > last_gap ? gap : last_gap;
      atomic_store_explicit(&observer.seen, value, memory_order_release);
      if (value == STOP) {
        return NULL;
      }
      now = ticks();
    }
    last_gap = gap;
    before = now;
  }
}

static int latency(uint64_t millis, uint64_t gap_max, long writer, long executor) {
  static uint64_t counts[EXACT_TICKS];
  uint64_t interrupted = 0, skewed = 0;
  uint8_t *alias;
  uint8_t *code = map_code(&alias, NULL);
  /* mov $value,%eax; ret: the value fills the second half of a quadword. */
  static const uint8_t function[] = {0xb8, 1, 0, 0, 0, 0xc3};
  memcpy(alias + 3, function, sizeof function);
  _Atomic uint32_t *value = (_Atomic uint32_t *)(void *)(alias + 4);
  observer.cpu = executor;
  observer.function = (uint32_t (*)(void))(uintptr_t)(code + 3);
  pin(writer);
  pthread_t thread;
  if (pthread_create(&thread, NULL, observe, NULL)) {
    fail("pthread_create");
  }
  while (atomic_load(&observer.seen) != 1) {
    _mm_pause();
  }
  uint64_t end = nanos() + millis * 1000000u;
  for (uint32_t next = 2; nanos() < end; next++) {
    wait_ticks(random_below(2000));
    uint64_t before = ticks();
    atomic_store_explicit(value, next, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    uint64_t stored = ticks();
    while (atomic_load_explicit(&observer.seen, memory_order_acquire) != next) {
      _mm_pause();
    }
    int64_t sample = (int64_t)(observer.at - before);
    if (stored - before > gap_max || observer.gap > gap_max) {
      interrupted++;
    } else if (sample <= 0) {
      skewed++;
    } else if (sample < EXACT_TICKS) {
      counts[sample]++;
    } else {
      printf("ticks %" PRId64 " 1\n", sample);
    }
  }
  atomic_store(value, STOP);
  pthread_join(thread, NULL);
  for (int i = 0; i < EXACT_TICKS; i++) {
    if (counts[i]) {
      printf("ticks %d %" PRIu64 "\n", i, counts[i]);
    }
  }
  printf("interrupted %" PRIu64 "\nskewed %" PRIu64 "\n", interrupted, skewed);
  return 0;
}

/* ---- patch */

/*
 * The site toggles between a call and a five-byte NOP that differ in every byte: any mixture executes HLT or UD2, jumps into
 * unmapped memory, or equals the NOP.
 */
enum { SITE_SIZE = 5, RESERVED = 64 << 20, TARGET = 0x02d3800b, CALLED = 1 };

struct executor {
  alignas(LINE) _Atomic uint64_t executions;
  _Atomic uint64_t traps;
  _Atomic uint64_t wrong;
  long cpu;
  pthread_t thread;
};

/* Results of the process that may be killed. */
struct trial {
  struct executor executors[EXECUTORS_MAX];
  alignas(LINE) uint64_t toggles;
};

static struct trial *trial;
static uint8_t *site;
static atomic_bool stop;
static _Thread_local struct executor *self;

/* Redirects as the agent does: the trapped thread executes the NOP. Touches only atomics and the context. */
static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (*pc != (greg_t)(uintptr_t)site + 1) {
    signal(SIGTRAP, SIG_DFL); /* not our trap */
    raise(SIGTRAP);
    return;
  }
  atomic_fetch_add_explicit(&self->traps, 1, memory_order_relaxed);
  *pc = (greg_t)(uintptr_t)site + SITE_SIZE;
}

static void *execute(void *argument) {
  self = argument;
  pin(self->cpu);
  uint32_t (*function)(void) = (uint32_t (*)(void))(uintptr_t)(site - 2);
  uint64_t executions = 0;
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    if (function() > CALLED) {
      atomic_fetch_add(&self->wrong, 1);
    }
    atomic_store_explicit(&self->executions, ++executions, memory_order_relaxed);
  }
  return NULL;
}

static bool all_executed_since(const uint64_t *executions, int count) {
  for (int i = 0; i < count; i++) {
    /* A store may have been under way. */
    if (atomic_load_explicit(&trial->executors[i].executions, memory_order_relaxed) < executions[i] + 2) {
      return false;
    }
  }
  return true;
}

/* Whether each executor makes progress within a time that is ample for a running one. */
static bool await_executions(int count, uint64_t limit) {
  uint64_t executions[EXECUTORS_MAX];
  for (int i = 0; i < count; i++) {
    executions[i] = atomic_load_explicit(&trial->executors[i].executions, memory_order_relaxed);
  }
  for (uint64_t start = __rdtsc(); __rdtsc() - start < limit;) {
    if (all_executed_since(executions, count)) {
      return true;
    }
    _mm_pause();
  }
  return false;
}

static void toggle_for(bool locked, long unit, long split, uint64_t wait, uint64_t millis, int count) {
  uint8_t *reserved = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    fail("mmap");
  }
  uint8_t *alias, *target_alias;
  uint8_t *code = map_code(&alias, reserved);
  /* The boundary is that of a page, only of a line, or only of a quadword. */
  long boundary = unit == PAGE ? PAGE : unit == LINE ? 2 * LINE : 2 * LINE + 3 * QUADWORD;
  site = code + boundary - split;
  uint8_t *target = site + SITE_SIZE + TARGET;
  uint8_t *target_page = (uint8_t *)((uintptr_t)target & ~(uintptr_t)(PAGE - 1));
  map_code(&target_alias, target_page);
  static const uint8_t callee[] = {0xb8, CALLED, 0, 0, 0, 0xc3};
  memcpy(target_alias + (target - target_page), callee, sizeof callee);

  uint8_t call[SITE_SIZE] = {0xe8};
  static const uint8_t nop[SITE_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  static const int32_t displacement = TARGET;
  memcpy(call + 1, &displacement, sizeof displacement);
  uint8_t *start = alias + boundary - split;
  start[-2] = 0x31, start[-1] = 0xc0; /* xor %eax,%eax */
  start[SITE_SIZE] = 0xc3;
  /* The quadwords on both sides of the boundary, with the call and with the NOP. */
  uint64_t words[2][2];
  memcpy(start, call, SITE_SIZE);
  memcpy(words[1], alias + boundary - QUADWORD, sizeof words[1]);
  memcpy(start, nop, SITE_SIZE);
  memcpy(words[0], alias + boundary - QUADWORD, sizeof words[0]);
  _Atomic uint64_t *head = (_Atomic uint64_t *)(void *)(alias + boundary - QUADWORD);
  _Atomic uint64_t *tail = head + 1;
  uint64_t first_byte = (uint64_t)0xff << (QUADWORD - split) * 8;
  uint64_t trap_byte = (uint64_t)TRAP << (QUADWORD - split) * 8;

  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  for (int i = 0; i < count; i++) {
    if (pthread_create(&trial->executors[i].thread, NULL, execute, &trial->executors[i])) {
      fail("pthread_create");
    }
  }
  while (!await_executions(count, 1u << 30)) {
  }
  uint64_t end = nanos() + millis * 1000000u;
  bool executed = true;
  for (int on = 1; nanos() < end; on = !on) {
    const uint64_t *from = words[!on], *to = words[on];
    if (locked) {
      atomic_store(head, (from[0] & ~first_byte) | trap_byte);
      wait_ticks(wait);
    }
    atomic_store(tail, to[1]);
    wait_ticks(wait);
    atomic_store(head, to[0]);
    bool executed_before = executed;
    wait_ticks(random_below(500));
    executed = await_executions(count, 50000);
    trial->toggles += executed_before && executed;
  }
  atomic_store(&stop, true);
  for (int i = 0; i < count; i++) {
    pthread_join(trial->executors[i].thread, NULL);
  }
}

static int patch(int count, char **arguments) {
  bool locked = strcmp(arguments[0], "locked") == 0;
  long values[5];
  for (int i = 0; i < 5; i++) {
    values[i] = number(arguments[i + 1]);
  }
  int executors = count - 6;
  long unit = values[0], split = values[1];
  if (executors < 1 || executors > EXECUTORS_MAX || split < 1 || split >= SITE_SIZE ||
      (unit != PAGE && unit != LINE && unit != QUADWORD)) {
    fprintf(stderr, "out of range\n");
    return 2;
  }
  trial = mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED) {
    fail("mmap");
  }
  for (int i = 0; i < executors; i++) {
    trial->executors[i].cpu = number(arguments[6 + i]);
  }
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0) {
    fail("fork");
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(1);
    }
    prctl(PR_SET_DUMPABLE, 0); /* its death is an expected result: no core dump */
    alarm(LIFE_SECONDS_MAX);
    pin(values[4]);
    toggle_for(locked, unit, split, (uint64_t)values[2], (uint64_t)values[3], executors);
    _exit(0);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      fail("waitpid");
    }
  }
  if (WIFEXITED(status) && WEXITSTATUS(status)) {
    return WEXITSTATUS(status);
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    fprintf(stderr, "the executors did not run for %d s\n", LIFE_SECONDS_MAX);
    return 1;
  }
  uint64_t executions = 0, traps = 0, wrong = 0;
  for (int i = 0; i < executors; i++) {
    executions += trial->executors[i].executions;
    traps += trial->executors[i].traps;
    wrong += trial->executors[i].wrong;
  }
  printf("toggles %" PRIu64 "\nexecutions %" PRIu64 "\ntraps %" PRIu64 "\nwrong %" PRIu64 "\nsignal %d\n", trial->toggles,
         executions, traps, wrong, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return 0;
}

int main(int count, char **arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(LIFE_SECONDS_MAX + 10);
  if (count == 2 && strcmp(arguments[1], "machine") == 0) {
    return machine();
  }
  if (count == 6 && strcmp(arguments[1], "latency") == 0) {
    return latency((uint64_t)number(arguments[2]), (uint64_t)number(arguments[3]), number(arguments[4]),
                   number(arguments[5]));
  }
  if (count >= 9 && strcmp(arguments[1], "patch") == 0) {
    return patch(count - 2, arguments + 2);
  }
  fprintf(stderr, "this is a part of mdl calibrate\n");
  return 2;
}
