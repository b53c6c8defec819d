#include "session/directories.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int repair_mode(int directory, const char *name, mode_t mode) {
  struct stat status;
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (status.st_mode & mode) == mode) {
    return 0;
  }
  int made = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (made < 0) {
    return -errno;
  }
  char itself[48];
  snprintf(itself, sizeof itself, "/proc/thread-self/fd/%d", made);
  int error = chmod(itself, mode) < 0 ? -errno : 0;
  close(made);
  return error;
}

/* Accessible to its owner only. 0 if it existed before. */
static int make_directory(const char *path) {
  if (mkdir(path, 0700) < 0) {
    return errno == EEXIST ? 0 : -errno;
  }
  return repair_mode(AT_FDCWD, path, 0700);
}

/* Whether other users can replace entries there: then no path below it is stable. */
static bool is_changed_by_others(const struct stat *status) {
  return status->st_uid != 0 || ((status->st_mode & S_IWOTH) && !(status->st_mode & S_ISVTX));
}

/* For a path without links: 0 or -errno. */
static int check_parents(char *path) {
  struct stat status;
  for (size_t length = strlen(path); length > 0; length--) {
    if (path[length] == '/' || path[length] == 0) {
      path[length] = 0;
      if (stat(path, &status) < 0) {
        return -errno;
      }
      if (is_changed_by_others(&status)) {
        return -EPERM;
      }
    }
  }
  return 0;
}

/*
 * Root must not create anything in another user's directory, because that user could replace it by a link at any time: 0, or
 * -EPERM. Other users cannot be tricked into writing where they must not. Each directory of the path is checked, because any
 * of them may be a link.
 */
static int check_owners(const char *path) {
  char above[PATH_MAX], real[PATH_MAX];
  int error = 0;
  if (geteuid() != 0) {
    return 0;
  }
  if (strlen(path) >= sizeof above) {
    return -ENAMETOOLONG;
  }
  strcpy(above, path);
  for (char *slash; !error && (slash = strrchr(above, '/')) != NULL; *slash = 0) {
    if (realpath(above, real)) {
      error = check_parents(real);
    } else {
      error = errno == ENOENT ? 0 : -errno;
    }
  }
  return error;
}

static int make_directories(const char *path) {
  char partial[PATH_MAX];
  size_t length = strlen(path);
  if (length >= sizeof partial) {
    return -ENAMETOOLONG;
  }
  memcpy(partial, path, length + 1);
  for (size_t i = 1; i <= length; i++) {
    if (partial[i] == '/' || partial[i] == 0) {
      char end = partial[i];
      partial[i] = 0;
      int error = make_directory(partial);
      if (error) {
        return error;
      }
      partial[i] = end;
    }
  }
  return access(path, W_OK | X_OK) == 0 ? 0 : -errno;
}

int session_make_directories(const char *path) {
  int error = check_owners(path);
  error = error ? error : make_directories(path);
  return error ? error : check_owners(path); /* others may have created missing directories meanwhile */
}

int private_directory(const char *root, char *path, size_t capacity) {
  struct stat status;
  int length = snprintf(path, capacity, "%s/mdl-%u", root, geteuid());
  if (length < 0 || (size_t)length >= capacity) {
    return -ENAMETOOLONG;
  }
  int error = make_directory(path);
  if (error) {
    return error;
  }
  int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return -errno;
  }
  error = fstat(file, &status) < 0 ? -errno : 0;
  close(file);
  if (error == 0 && (status.st_uid != geteuid() || (status.st_mode & 077) != 0)) {
    error = -EPERM;
  }
  return error;
}
