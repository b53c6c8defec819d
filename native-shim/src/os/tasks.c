#include "os/tasks.h"

#include "os/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int tasks_each(pid_t process, bool (*look)(pid_t process, pid_t thread, void *result), void *result) {
  char path[32] = "/proc/self/task", entries[2048];
  if (process) {
    snprintf(path, sizeof path, "/proc/%d/task", process);
  }
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    return -errno;
  }
  bool more = true;
  for (long length; more && (length = raw_syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
    for (long at = 0; more && at < length;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      int thread = atoi(entry->d_name);
      more = thread == 0 || look(process, thread, result);
      at += entry->d_reclen;
    }
  }
  close(directory);
  return 0;
}
