/*
 * /tmp is world-writable: read only the file that was checked, which must be this user's and not a link.
 */
#include "agent/perf_map.h"

#include "agent/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t read_all(int file, char *text, int64_t capacity) {
  struct stat status;
  if (fstat(file, &status) != 0) {
    return -errno;
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    return -EPERM;
  }
  int64_t size = status.st_size;
  for (int64_t done = 0, some; done < capacity && done < size; done += some) {
    some = pread(file, text + done, (size_t)((capacity < size ? capacity : size) - done), done);
    if (some <= 0) {
      return some < 0 ? -errno : done; /* the file has been truncated */
    }
  }
  return size;
}

int64_t perf_map_read(int64_t pid, char *text, int64_t capacity) {
  if (!agent_has_own_descriptors) {
    return -EBADF;
  }
  char path[32];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    return -errno;
  }
  int64_t result = read_all(file, text, capacity);
  close(file);
  return result;
}
