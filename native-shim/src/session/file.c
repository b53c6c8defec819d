#include "session/file.h"

#include "os/glibc.h"
#include "os/own_memory.h"
#include "os/place.h"
#include "os/sys.h"
#include "session/directories.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *session_memory_root = "/dev/shm";

enum {
  INITIAL = 4 << 20,
  STEP = SESSION_STEP,
  LIMIT = 768 << 20,
  /* If the file cannot grow without a descriptor, it is allocated fully at creation. */
  LIMIT_WITHOUT_GROWTH = 32 << 20,
  /* Share of the in-memory file system for all sessions of a user. */
  MEMORY_SHARE = 4,
};

/*
 * -EDQUOT if the user's sessions have used up their share of the memory. Sessions of ended programs stay until mdl moves
 * them; if nobody runs mdl, they must not exhaust the memory.
 */
static int check_share(const char *memory_directory) {
  struct statvfs fs;
  DIR *entries = opendir(memory_directory);
  if (!entries) {
    return -errno;
  }
  uint64_t taken = 0;
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    struct stat status;
    if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
      taken += (uint64_t)status.st_blocks * 512;
    }
  }
  bool has_room = fstatvfs(dirfd(entries), &fs) == 0 && taken <= (uint64_t)fs.f_blocks * fs.f_frsize / MEMORY_SHARE;
  closedir(entries);
  return has_room ? 0 : -EDQUOT;
}

/* ---- the file */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Maximum size of the file. The application shares the file system and the resource limits. */
static uint64_t limit_of(int file, bool growing) {
  uint64_t limit = growing ? LIMIT : LIMIT_WITHOUT_GROWTH;
  struct statvfs fs;
  if (fstatvfs(file, &fs) == 0) {
    limit = smaller(limit, (uint64_t)fs.f_bavail * fs.f_frsize / 2);
  }
  limit = smaller(limit, kernel_limit(RLIMIT_FSIZE));
  limit = smaller(limit, kernel_limit(RLIMIT_AS) / 16);
  return limit & ~(uint64_t)(STEP - 1);
}

/* Backs the first bytes, sets the size, maps it: 0 or -errno. */
static int map_file(int descriptor, struct session_file *file) {
  bool growing = session_can_grow();
  file->limit = limit_of(descriptor, growing);
  if (file->limit < INITIAL) {
    return -ENOSPC;
  }
  file->backed = growing ? INITIAL : file->limit;
  if (fallocate(descriptor, 0, 0, (off_t)file->backed) < 0) {
    if (errno != EOPNOTSUPP) {
      return -errno;
    }
    char zeros[16384] = {0};
    for (uint64_t at = 0; at < file->backed; at += sizeof zeros) {
      if (pwrite(descriptor, zeros, sizeof zeros, (off_t)at) != (ssize_t)sizeof zeros) {
        return errno ? -errno : -ENOSPC;
      }
    }
  }
  for (;; file->limit /= 2) {
    if (ftruncate(descriptor, (off_t)file->limit) < 0) {
      return -errno;
    }
    void *address = own_memory_map(place_apart(1), file->limit, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0, INHERITED);
    if (address != MAP_FAILED) {
      file->mapping = address;
      return 0;
    }
    bool is_too_much = errno == ENOMEM || errno == EAGAIN; /* EAGAIN: the program has locked its future memory */
    if (!is_too_much || file->limit / 2 < file->backed) {
      return -errno;
    }
  }
}

static int create_at(const char *path, struct session_file *file) {
  int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, SESSION_FILE_MODE);
  struct stat status;
  if (descriptor < 0) {
    return -errno;
  }
  errno = 0;
  int error = fchmod(descriptor, SESSION_FILE_MODE) < 0 || fstat(descriptor, &status) < 0 ? -errno : map_file(descriptor, file);
  close(descriptor);
  if (error) {
    unlink(path);
    return error;
  }
  file->device = status.st_dev;
  file->inode = status.st_ino;
  return 0;
}

const char *error_name(int error) {
  const char *name = strerrorname_np(-error);
  return name ? name : "an unknown error";
}

/*
 * Creates the session file of `where`; -EEXIST if there is one. The name session.mdl is claimed first, by a link or O_EXCL:
 * so one of two concurrent processes wins, and a process that is killed meanwhile leaves no unnamed file.
 */
static int create_in(const char *where, const char *id, struct session_file *file) {
  char link[PATH_MAX + 16], memory_directory[64], memory_file[PATH_MAX];
  snprintf(link, sizeof link, "%s/session.mdl", where);
  if (options.session_in_directory) {
    return create_at(link, file);
  }
  int error = private_directory(session_memory_root, memory_directory, sizeof memory_directory);
  if (!error) {
    error = check_share(memory_directory);
  }
  if (!error) {
    snprintf(memory_file, sizeof memory_file, "%s/%s.mdl", memory_directory, id);
    if (symlink(memory_file, link) < 0) {
      return -errno;
    }
    error = create_at(memory_file, file);
    if (!error) {
      return 0;
    }
    unlink(link);
  }
  log_line(session_memory_root, " cannot hold the session file (", error_name(error),
           "): it is in the session's directory, where stores to it may wait for a disk", NULL);
  return create_at(link, file);
}

int session_file_create(struct session_file *file, const char *where, const char *id, bool may_be_taken) {
  if (strlen(where) >= sizeof file->directory) {
    return -ENAMETOOLONG;
  }
  int error = session_make_directories(where);
  if (!error) {
    strcpy(file->directory, where);
    error = create_in(file->directory, id, file);
  }
  if (error == -EEXIST && may_be_taken) {
    /* Another process of the same run has the directory. */
    char below[PATH_MAX];
    int length = snprintf(below, sizeof below, "%s/%s", where, id);
    if (length < 0 || (size_t)length >= sizeof below) {
      return -ENAMETOOLONG;
    }
    return session_file_create(file, below, id, false);
  }
  return error;
}

/* ---- other files */

static int path_in_memory(const char *name, char *path) {
  int length = snprintf(path, PATH_MAX, "%s/mdl-%u/%s", session_memory_root, geteuid(), name);
  return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Exceeding RLIMIT_FSIZE would raise a signal in the program. */
static int check_size(uint64_t bytes) { return kernel_limit(RLIMIT_FSIZE) >= bytes ? 0 : -EFBIG; }

static int fill(int descriptor, uint64_t bytes) {
  struct statvfs fs;
  if (fstatvfs(descriptor, &fs) < 0) {
    return -errno;
  }
  if ((uint64_t)fs.f_bavail * fs.f_frsize / 2 < bytes) {
    return -ENOSPC;
  }
  return fchmod(descriptor, 0600) < 0 || fallocate(descriptor, 0, 0, (off_t)bytes) < 0 ? -errno : 0;
}

int memory_file_create(const char *name, uint64_t bytes) {
  char directory[64], path[PATH_MAX];
  int error = check_size(bytes);
  error = error ? error : path_in_memory(name, path);
  error = error ? error : private_directory(session_memory_root, directory, sizeof directory);
  error = error ? error : check_share(directory);
  if (error) {
    return error;
  }
  int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return -errno;
  }
  error = fill(descriptor, bytes);
  if (error) {
    unlink(path);
    close(descriptor);
    return error;
  }
  return descriptor;
}

int memory_file_open(const char *name) {
  char path[PATH_MAX];
  int error = path_in_memory(name, path);
  int descriptor = error ? error : open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  return descriptor == -1 ? -errno : descriptor;
}

void memory_file_remove(const char *name) {
  char path[PATH_MAX];
  if (path_in_memory(name, path) == 0) {
    unlink(path);
  }
}
