/*
 * mdl-inject --bind PID INSTALLATION SESSION USER GROUP
 *
 * Makes two directories visible to a process with another view of the file system (bind.h).
 *
 * mdl-inject PID LIBRARY FUNCTION [ADOPT] < ARGUMENT
 *
 * Creates a thread in the process PID that opens LIBRARY and calls its `int FUNCTION(const char *)` with standard input.
 * If it returns 0, each thread that blocks SIGTRAP or SIGILL calls `void ADOPT(void)`, and has both unblocked then.
 * After the function has returned, prints "result R stopped N N ns"; the exit status is 0 or 1, by the result. On failure,
 * prints the reason on standard error; the exit status is 2.
 */
#include "bind.h"
#include "borrow.h"
#include "filters.h"
#include "page.h"
#include "steps.h"
#include "waits.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  FAILED = 2,
  PAUSE_MICROS = 500,
  TRIES = 200, /* times the pause: 100 ms */
  ADOPT_TRIES = 2000, /* 1 s */
  MAPPED_TRIES = 100000,
  MAPPED_PAUSE_MICROS = 20,
  DONE_SECONDS = 20,
};

enum { PID = 1, LIBRARY, FUNCTION, ADOPT }; /* arguments */
enum { BIND_WORDS = 7 };

_Static_assert(PAGE_DATA + sizeof(struct page_data) + PAGE_TEXT_MAX + 16384 < HOLE_BYTES, "no room for a stack");

#ifdef MDL_STEPS
#include <signal.h>

static int attempt;

void step(int number) {
  const char *at = getenv("MDL_INJECT_DIES");
  if (at && atoi(at) == attempt * 10 + number) {
    kill(getpid(), SIGKILL);
  }
}

bool is_twin(const char *defect) {
  const char *twin = getenv("MDL_INJECT_TWIN");
  return twin && strcmp(twin, defect) == 0;
}
#endif

static _Noreturn void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(FAILED);
}

static const char not_permitted[] = "ptrace is not permitted (CAP_SYS_PTRACE, or kernel.yama.ptrace_scope), or a debugger has it";
static const char does_not_stop[] = "a thread does not stop: it waits in the kernel for a device";

static void pause_micros(long micros) { nanosleep(&(struct timespec){.tv_nsec = micros * 1000}, NULL); }

/* The nanoseconds that the thread was stopped. */
static uint64_t call_on_some_thread(const struct target *target, const struct call *calls, size_t count, uint64_t top) {
  static struct candidate candidates[CANDIDATES_MAX];
  uint64_t stopped = 0;
  for (int i = 0; i < TRIES; i++) {
    size_t found = waits_find(target, false, candidates);
    for (size_t c = 0; c < found; c++) {
      stopped = 0;
      switch (borrow(target, &candidates[c], calls, count, top, &stopped)) {
        case BORROWED: return stopped;
        case NOT_ALLOWED: fail(not_permitted);
        case DOES_NOT_STOP: fail(does_not_stop);
        default: break;
      }
    }
    pause_micros(PAUSE_MICROS);
  }
  fail("no thread is at a safe point: all run in libraries, hold locks or are in signal handlers; try again");
}

/* The mode of /proc/PID/task/TID/status: 0 without seccomp. */
static int seccomp_mode(pid_t pid, pid_t thread) {
  static const char heading[] = "\nSeccomp:";
  char name[64], text[4096];
  snprintf(name, sizeof name, "task/%d/status", thread);
  target_text(pid, name, text, sizeof text);
  const char *mode = strstr(text, heading);
  return mode ? atoi(mode + sizeof heading - 1) : 0;
}

static bool are_same(const struct filters *one, const struct filters *other) {
  return one->count == other->count && memcmp(one->start, other->start, (one->count + 1) * sizeof *one->start) == 0 &&
         memcmp(one->code, other->code, one->start[one->count] * sizeof *one->code) == 0;
}

static void check_filters_of(pid_t thread) {
  static struct filters filters[2];
  static size_t latest;
  struct filters *these = &filters[1 - latest];
  const char *trouble = NULL;
  switch (borrow_filters(thread, these, &trouble)) {
    case NOT_THERE: return; /* it has ended */
    case NOT_ALLOWED: fail(not_permitted);
    case DOES_NOT_STOP: fail(does_not_stop);
    default: break;
  }
  trouble = trouble || are_same(these, &filters[latest]) ? trouble : filters_objection(these);
  if (trouble) {
    fail(trouble);
  }
  latest = 1 - latest;
}

/* Threads that are created meanwhile inherit the filters of one that is checked. */
static void check_filters(pid_t pid) {
  enum { STRICT = 1 };
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = TWIN("no-filter-check") ? NULL : opendir(path);
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    int thread = atoi(entry->d_name);
    int mode = thread > 0 ? seccomp_mode(pid, thread) : 0;
    if (mode == STRICT) {
      fail("it has a thread in the strict mode of seccomp, which allows four system calls");
    }
    if (mode) {
      check_filters_of(thread);
    }
  }
  if (tasks) {
    closedir(tasks);
  }
}

static uint64_t map_pages(const struct target *target) {
  const struct call map = {
      .function = target->call_and_return,
      .rax = SYS_mmap,
      .argument = {target->hole, HOLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                   (uint64_t)-1, 0},
  };
  uint64_t stopped = call_on_some_thread(target, &map, 1, 0);
  uint8_t byte;
  for (int i = 0; i < MAPPED_TRIES; i++) {
    if (target_get(target, target->hole + PAGE_CODE, &byte, 1)) {
      struct range mapped;
      if (!target_mapping(target, target->hole, &mapped)) {
        fail("it has ended");
      }
      if (mapped.start != target->hole || mapped.end != target->hole + HOLE_BYTES) {
        fail("it has mapped memory of its own where the pages were to be; try again");
      }
      return stopped;
    }
    pause_micros(MAPPED_PAUSE_MICROS);
  }
  fail("it cannot map memory");
}

struct texts {
  char bytes[PAGE_TEXT_MAX];
  size_t used;
};

static uint64_t add_text(const struct target *target, struct texts *texts, const char *text, size_t bytes) {
  if (bytes + 1 > sizeof texts->bytes - texts->used) {
    fail("the argument is too long");
  }
  uint64_t address = target->hole + PAGE_DATA + sizeof(struct page_data) + texts->used;
  memcpy(texts->bytes + texts->used, text, bytes);
  texts->bytes[texts->used + bytes] = 0;
  texts->used += bytes + 1;
  return address;
}

static void fill_pages(const struct target *target, char *const *words, const char *argument, size_t bytes) {
  static struct texts texts;
  struct page_data data = {
      .dlopen = target->dlopen,
      .dlsym = target->dlsym,
      .dlerror = target->dlerror,
      .pthread_detach = target->pthread_detach,
      .library = add_text(target, &texts, words[LIBRARY], strlen(words[LIBRARY])),
      .function = add_text(target, &texts, words[FUNCTION], strlen(words[FUNCTION])),
      .argument = add_text(target, &texts, argument, bytes),
      .adopt = words[ADOPT] ? add_text(target, &texts, words[ADOPT], strlen(words[ADOPT])) : 0,
  };
  uint64_t at = target->hole;
  if (!target_put(target, at + PAGE_CODE, page_routine, (size_t)(page_routine_end - page_routine)) ||
      !target_put(target, at + PAGE_DATA, &data, sizeof data) ||
      !target_put(target, at + PAGE_DATA + sizeof data, texts.bytes, texts.used)) {
    fail("its memory cannot be written");
  }
}

static uint64_t create_thread(const struct target *target) {
  uint64_t code = target->hole + PAGE_CODE, data = target->hole + PAGE_DATA;
  const struct call calls[] = {
      {.function = target->call_and_return, .rax = SYS_mprotect, .argument = {code, PAGE_DATA, PROT_READ | PROT_EXEC}},
      {.function = target->pthread_create,
       .argument = {data + offsetof(struct page_data, thread), 0, code, data},
       .blocks_signals = true},
  };
  return call_on_some_thread(target, calls, 2, target->hole + HOLE_BYTES);
}

/* The thread's result. */
static struct page_data await_thread(const struct target *target) {
  struct page_data data;
  time_t end = time(NULL) + DONE_SECONDS;
  do {
    pause_micros(100);
    if (!target_get(target, target->hole + PAGE_DATA, &data, sizeof data)) {
      fail("it has ended");
    }
  } while ((data.state == PAGE_IDLE || data.state == PAGE_RUNS) && time(NULL) < end);
  return data;
}

/* Threads that cannot be borrowed stay as they are. */
static void adopt_threads(const struct target *target, uint64_t adopt) {
  const struct call call = {.function = adopt, .unblocks_traps = true};
  for (int i = 0; i < ADOPT_TRIES && waits_some_block(target); i++) {
    static struct candidate candidates[CANDIDATES_MAX];
    size_t found = waits_find(target, true, candidates);
    for (size_t c = 0; c < found; c++) {
      uint64_t stopped = 0;
      borrow(target, &candidates[c], &call, 1, 0, &stopped);
    }
    pause_micros(PAUSE_MICROS);
  }
}

static int tell(const struct target *target, const struct page_data *data, uint64_t first_stop, uint64_t second_stop) {
  char error[512] = "";
  switch (data->state) {
    case PAGE_DONE:
      printf("result %lld stopped %llu %llu ns\n", (long long)data->result, (unsigned long long)first_stop,
             (unsigned long long)second_stop);
      return data->result != 0;
    case PAGE_IDLE: fail("it cannot create a thread: pids.max, RLIMIT_NPROC or memory");
    case PAGE_RUNS: fail("the library is not loaded after 20 s: another thread may hold the dynamic linker's lock");
    default:
      for (size_t i = 0; i < sizeof error - 1 && target_get(target, data->error + i, &error[i], 1) && error[i]; i++) {
      }
      fail(error);
  }
}

int main(int count, char **words) {
  static char argument[PAGE_TEXT_MAX];
  static struct target target;
  const char *trouble;
  if (count == BIND_WORDS && strcmp(words[1], "--bind") == 0) {
    borrow_begin();
    check_filters(atoi(words[2]));
    trouble = bind_directories(&(struct bind){atoi(words[2]), words[3], words[4], (uid_t)atol(words[5]), (gid_t)atol(words[6])});
    if (trouble) {
      fail(trouble);
    }
    return 0;
  }
  if (count != ADOPT && count != ADOPT + 1) {
    fail("usage: mdl-inject PID LIBRARY FUNCTION [ADOPT] < ARGUMENT");
  }
  size_t bytes = fread(argument, 1, sizeof argument - 1, stdin);
  trouble = target_read(&target, atoi(words[PID]));
  if (trouble) {
    fail(trouble);
  }
  borrow_begin();
  check_filters(target.pid);
  uint64_t first = map_pages(&target);
#ifdef MDL_STEPS
  attempt = 1;
#endif
  fill_pages(&target, words, argument, bytes);
  uint64_t second = create_thread(&target);
  struct page_data data = await_thread(&target);
#ifdef MDL_STEPS
  attempt = 2;
#endif
  if (data.state == PAGE_DONE && data.result == 0 && data.adopt != 0) {
    adopt_threads(&target, data.adopt);
  }
  return tell(&target, &data, first, second);
}
