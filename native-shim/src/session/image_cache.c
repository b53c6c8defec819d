#include "session/image_cache.h"

#include "os/library.h"
#include "session/directories.h"
#include "session/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 160 };

/* What finds the facts: Java, the decoder, and this library. */
static const char *const makers[] = {"../runtime/lib/modules", "libZydis.so.4.0", "libmdlagent.so"};

static bool directory_path(char *path, size_t capacity) {
  return options.state_home[0] && (size_t)snprintf(path, capacity, "%s/mdl/images", options.state_home) < capacity;
}

/* A number of this build. */
static uint64_t stamp(void) {
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    char path[PATH_MAX + 64];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", library_directory, makers[i]);
    if (stat(path, &status) == 0) {
      uint64_t parts[] = {(uint64_t)status.st_size, (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
      for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
        sum = (sum ^ parts[j]) * 0x9E3779B97F4A7C15ULL;
        sum ^= sum >> 29;
      }
    }
  }
  return sum;
}

static bool file_name(const char *name, char *file) {
  size_t length = strspn(name, "0123456789abcdef");
  return length > 0 && !name[length] && snprintf(file, NAME_BYTES, "%s-%016llx", name, (unsigned long long)stamp()) < NAME_BYTES;
}

static bool is_own(int file, mode_t type) {
  struct stat status;
  return fstat(file, &status) == 0 && (status.st_mode & S_IFMT) == type && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_directory(void) {
  char path[PATH_MAX];
  if (!directory_path(path, sizeof path)) {
    return -ENOENT;
  }
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) {
    return -errno;
  }
  if (!is_own(directory, S_IFDIR)) {
    close(directory);
    return -EPERM;
  }
  return directory;
}

static int64_t read_file(int file, void *bytes, int64_t capacity) {
  struct stat status;
  if (!is_own(file, S_IFREG) || fstat(file, &status) != 0) {
    return -EPERM;
  }
  if (status.st_size > IMAGE_CACHE_BYTES) {
    return -EFBIG;
  }
  if (status.st_size > capacity) {
    return status.st_size;
  }
  for (off_t at = 0; at < status.st_size;) {
    ssize_t got = pread(file, (char *)bytes + at, (size_t)(status.st_size - at), at);
    if (got <= 0) {
      return got < 0 ? -errno : -EIO;
    }
    at += got;
  }
  return status.st_size;
}

int64_t image_cache_read(const char *name, void *bytes, int64_t capacity) {
  char entry[NAME_BYTES];
  if (!file_name(name, entry)) {
    return -EINVAL;
  }
  int directory = open_directory();
  if (directory < 0) {
    return directory;
  }
  int file = openat(directory, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int64_t result = file < 0 ? -errno : read_file(file, bytes, capacity);
  if (file >= 0) {
    close(file);
  }
  close(directory);
  return result;
}

static void remove_oldest(int directory) {
  char oldest[sizeof(((struct dirent *)NULL)->d_name)] = "";
  struct timespec since = {0};
  int count = 0, own = fcntl(directory, F_DUPFD_CLOEXEC, 3);
  DIR *entries = own < 0 ? NULL : fdopendir(own);
  if (!entries) {
    if (own >= 0) {
      close(own);
    }
    return;
  }
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    struct stat status;
    if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
      bool older = status.st_mtim.tv_sec < since.tv_sec ||
                   (status.st_mtim.tv_sec == since.tv_sec && status.st_mtim.tv_nsec < since.tv_nsec);
      if (count++ == 0 || older) {
        since = status.st_mtim;
        strcpy(oldest, entry->d_name);
      }
    }
  }
  closedir(entries);
  if (count > IMAGE_CACHE_FILES) {
    unlinkat(directory, oldest, 0);
  }
}

static int write_all(int file, const char *bytes, int64_t length) {
  for (int64_t at = 0; at < length;) {
    ssize_t written = write(file, bytes + at, (size_t)(length - at));
    if (written < 0) {
      return -errno;
    }
    at += written;
  }
  return 0;
}

static int64_t write_to(int directory, const char *entry, const void *bytes, int64_t length) {
  char fresh[NAME_BYTES + 32];
  snprintf(fresh, sizeof fresh, "%s.%d", entry, (int)getpid());
  unlinkat(directory, fresh, 0); /* of a process that has died, and had this number */
  int file = openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    return -errno;
  }
  int error = fchmod(file, 0600) != 0 ? -errno : write_all(file, bytes, length);
  if (close(file) != 0 && !error) {
    error = -errno;
  }
  if (!error && renameat(directory, fresh, directory, entry) != 0) {
    error = -errno;
  }
  if (error) {
    unlinkat(directory, fresh, 0);
  } else {
    remove_oldest(directory);
  }
  return error;
}

int64_t image_cache_write(const char *name, const void *bytes, int64_t length) {
  char entry[NAME_BYTES], path[PATH_MAX];
  if (!file_name(name, entry) || length > IMAGE_CACHE_BYTES) {
    return -EINVAL;
  }
  if (!directory_path(path, sizeof path)) {
    return -ENOENT;
  }
  int error = session_make_directories(path);
  int directory = error ? error : open_directory();
  if (directory < 0) {
    return directory;
  }
  int64_t result = write_to(directory, entry, bytes, length);
  close(directory);
  return result;
}
