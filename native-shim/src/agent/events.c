/*
 * Counters of threads: events by perf_event_open(2). The agent's thread opens and reads them, so the counted threads do no
 * work, and the descriptors are the agent's own.
 *
 * An inherited counter also counts threads (and, if allowed, processes) that its thread and their descendants create later.
 * So one counter for each existing thread covers the whole program.
 */
#include "agent/events.h"

#include "agent/descriptors.h"
#include "os/agent_threads.h"
#include "os/self.h"
#include "os/sys.h"
#include "os/tasks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <mdl/api.h>
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

struct list {
  uint32_t *out;
  int64_t capacity, count;
};

static bool list_thread(pid_t process, pid_t thread, void *result) {
  (void)process;
  struct list *list = result;
  if (list->count < list->capacity) {
    list->out[list->count] = (uint32_t)thread;
  }
  list->count++;
  return true;
}

/* A new agent thread is in /proc before it has entered its id. So the list is made again until none was beginning. */
int64_t events_threads(int64_t pid, uint32_t *out, int64_t capacity) {
  int64_t count = 0;
  bool sure = false;
  for (int i = 0; !sure && i < LISTS_MAX; i++) {
    if (i > 0) {
      usleep(PAUSE_MICROS);
    }
    struct list all = {out, capacity, 0};
    int error = tasks_each((pid_t)pid, list_thread, &all);
    if (error || pid != process_pid || all.count > capacity) {
      return error ? error : all.count;
    }
    agent_threads_counted(&sure);
    count = 0;
    for (int64_t k = 0; k < all.count; k++) {
      if (!agent_threads_have((int)out[k])) {
        out[count++] = out[k];
      }
    }
  }
  return count;
}
