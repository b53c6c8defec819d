#include "waits.h"

#include "steps.h"

#include <dirent.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  SCANNED_MAX = 512 * 1024, /* bytes of a stack to scan */
  MAPPINGS_MAX = 1 << 16,   /* the kernel's default limit is 65530 (vm.max_map_count) */
};

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/*
 * 0: libc or the kernel restarts the call. 1: waits for events, usually without a timeout. 2: has a timeout that starts
 * anew. 3: a signal that arrives while the thread is borrowed does not end the call.
 */
int waits_rank(uint64_t number) {
  switch (number) {
    case SYS_futex:
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_read:
    case SYS_wait4:
    case SYS_waitid: return 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend:
    case SYS_semop:
    case SYS_msgrcv: return 1;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_semtimedop:
    case SYS_clock_nanosleep:
    case SYS_nanosleep: return 2;
    case SYS_pause: return 3;
    default: return -1;
  }
}

/* The dynamic linker and stdio read regular files with locks held. */
static bool is_regular_file(const struct target *target, uint64_t descriptor) {
  char path[64], name[8];
  snprintf(path, sizeof path, "/proc/%d/fd/%llu", target->pid, (unsigned long long)descriptor);
  return readlink(path, name, sizeof name) <= 0 || name[0] == '/' ? strncmp(name, "/dev/", 5) != 0 : false;
}

static bool may_be_borrowed(const struct target *target, uint64_t number, const uint64_t *arguments) {
  switch (number) {
    case SYS_futex: return ((int)arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET; /* libc's low-level locks use FUTEX_WAIT */
    case SYS_read: return !is_regular_file(target, arguments[0]);
    default: return waits_rank(number) >= 0;
  }
}

/* The target's mappings, read once for all threads that waits_find() looks at: a new thread's stack may be missing. */
static struct range mappings[MAPPINGS_MAX];
static size_t mapping_count;

/* The end of the mapping with this address; 0 if there is none. */
static uint64_t end_of_mapping(uint64_t address) {
  size_t low = 0, high = mapping_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (mappings[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < mapping_count && mappings[low].start <= address ? mappings[low].end : 0;
}

/* A signal handler's return address on the stack: the interrupted code may hold any lock. A stale one, not yet
 * overwritten, looks the same. */
static bool is_in_handler(const struct target *target, uint64_t stack) {
  if (TWIN("no-handler-check")) {
    return false;
  }
  static uint64_t words[SCANNED_MAX / sizeof(uint64_t)];
  uint64_t end = end_of_mapping(stack);
  if (!end) {
    return true;
  }
  uint64_t bytes = (end - stack) & -(uint64_t)8;
  bytes = bytes < SCANNED_MAX ? bytes : SCANNED_MAX;
  if (!target_get(target, stack, words, bytes)) {
    return true;
  }
  for (size_t i = 0; i < bytes / sizeof *words; i++) {
    if (words[i] == target->signal_return) {
      return true;
    }
  }
  return false;
}

/* The number of a call that was interrupted, and that the kernel has restarted: `mov $number, %eax; syscall` has made it. */
static uint64_t restarted_number(const struct target *target, uint64_t next) {
  struct __attribute__((packed)) {
    uint8_t move;
    uint32_t number;
    uint8_t call[2];
  } code;
  bool is_known = target_get(target, next - sizeof code, &code, sizeof code) && code.move == 0xB8 && code.call[0] == 0x0F &&
                  code.call[1] == 0x05;
  return is_known ? code.number : SYS_restart_syscall;
}

/* The call's rank, or -1. */
static int look_at(const struct target *target, pid_t thread, struct candidate *candidate) {
  char name[64], text[256];
  unsigned long long number, arguments[6], stack, next;
  snprintf(name, sizeof name, "task/%d/syscall", thread);
  target_text(target->pid, name, text, sizeof text);
  *candidate = (struct candidate){.thread = thread};
  if (strncmp(text, "running", 7) == 0) {
    candidate->runs = true;
    return target->program_has_allocator ? -1 : RANKS - 1;
  }
  if (sscanf(text, "%llu %llx %llx %llx %llx %llx %llx %llx %llx", &number, &arguments[0], &arguments[1], &arguments[2],
             &arguments[3], &arguments[4], &arguments[5], &stack, &next) != 9) {
    return -1;
  }
  candidate->number = number;
  candidate->again = number == SYS_restart_syscall ? restarted_number(target, next) : number;
  candidate->stack = stack;
  candidate->next = next;
  uint64_t given[6];
  for (int i = 0; i < 6; i++) {
    given[i] = arguments[i];
  }
  return may_be_borrowed(target, candidate->again, given) && !is_in_handler(target, stack) ? waits_rank(candidate->again) : -1;
}

static bool blocks_traps(const struct target *target, pid_t thread) {
  static const char heading[] = "\nSigBlk:";
  char name[64], text[4096];
  snprintf(name, sizeof name, "task/%d/status", thread);
  target_text(target->pid, name, text, sizeof text);
  const char *mask = strstr(text, heading);
  return mask && strtoull(mask + sizeof heading - 1, NULL, 16) & BORROW_TRAPS;
}

bool waits_some_block(const struct target *target) {
  bool some = false;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", target->pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && !some && (entry = readdir(tasks));) {
    int thread = atoi(entry->d_name);
    some = thread > 0 && blocks_traps(target, thread);
  }
  if (tasks) {
    closedir(tasks);
  }
  return some;
}

size_t waits_find(const struct target *target, bool blocking, struct candidate candidates[CANDIDATES_MAX]) {
  struct candidate found[RANKS][CANDIDATES_MAX];
  size_t counts[RANKS] = {0}, count = 0;
  mapping_count = target_mappings(target, mappings, MAPPINGS_MAX);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", target->pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && (entry = readdir(tasks)) && counts[0] < CANDIDATES_MAX;) {
    struct candidate candidate;
    int thread = atoi(entry->d_name);
    int rank = thread > 0 && (!blocking || blocks_traps(target, thread)) ? look_at(target, thread, &candidate) : -1;
    if (rank >= 0 && counts[rank] < CANDIDATES_MAX) {
      found[rank][counts[rank]++] = candidate;
    }
  }
  if (tasks) {
    closedir(tasks);
  }
  for (int rank = 0; rank < RANKS; rank++) {
    for (size_t i = 0; i < counts[rank] && count < CANDIDATES_MAX; i++) {
      candidates[count++] = found[rank][i];
    }
  }
  return count;
}
