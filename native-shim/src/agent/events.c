/*
 * Counters of threads: events by perf_event_open(2). The agent's thread opens and reads them, so the counted
 * threads do no work, and the descriptors are the agent's own.
 *
 * An inherited counter also counts threads (and, if allowed, processes) that its thread and their descendants create later.
 * So one counter for each existing thread covers the whole program.
 */
#include "agent/events.h"

#include "agent/descriptors.h"
#include "os/agent_threads.h"
#include "os/self.h"
#include "os/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <mdl/api.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How often threads are listed at most, and the pause before the next time. */
enum { LISTS_MAX = 20, PAUSE_MICROS = 1000 };

int64_t events_open(uint64_t event, int64_t tid, int64_t reach) {
  if (!agent_has_own_descriptors) {
    return -EBADF;
  }
  struct perf_event_attr attributes = {
      .type = (uint32_t)(event >> 32),
      .size = sizeof attributes,
      .config = (uint32_t)event,
      .inherit = reach != MDL_REACH_THREAD,
      .inherit_thread = reach == MDL_REACH_PROCESS,
      .remove_on_exec = 1, /* a program that is executed in place of ours is not counted */
  };
  long descriptor = raw_syscall(SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

int64_t events_read(int64_t descriptor) {
  int64_t count;
  ssize_t length = read((int)descriptor, &count, sizeof count);
  return length == sizeof count ? count : length < 0 ? -errno : -EIO;
}

void events_close(int64_t descriptor) { close((int)descriptor); }

/* All threads of a process. */
static int64_t list_threads(int64_t pid, uint32_t *out, int64_t capacity) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    return -errno;
  }
  int64_t count = 0;
  char entries[4096];
  for (long length; (length = raw_syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < length;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      int tid = atoi(entry->d_name);
      if (tid > 0) {
        if (count < capacity) {
          out[count] = (uint32_t)tid;
        }
        count++;
      }
      at += entry->d_reclen;
    }
  }
  close(directory);
  return count;
}

/* A new agent thread is in /proc before it has entered its id. So the list is made again until none was beginning. */
int64_t events_threads(int64_t pid, uint32_t *out, int64_t capacity) {
  int64_t count = 0;
  bool sure = false;
  for (int i = 0; !sure && i < LISTS_MAX; i++) {
    if (i > 0) {
      usleep(PAUSE_MICROS);
    }
    int64_t all = list_threads(pid, out, capacity);
    if (pid != process_pid || all < 0) {
      return all;
    }
    agent_threads_counted(&sure);
    count = 0;
    int64_t listed = all < capacity ? all : capacity;
    for (int64_t k = 0; k < listed; k++) {
      if (!agent_threads_have((int)out[k])) {
        out[count++] = out[k];
      }
    }
    count += all - listed;
  }
  return count;
}
