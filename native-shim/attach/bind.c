#include "bind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MODE = 0700, NAME_MAX_BYTES = 64 };

static const char *const names[] = {"installation", "session"};
enum { DIRECTORIES = sizeof names / sizeof *names };

/* Where a directory can be created in most containers. */
static const char *const places[] = {"run", "tmp", "dev/shm", "var/tmp", "."};

static const char *because(const char *what) {
  static char text[256];
  snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
  return text;
}

/* As the target's user, who owns what is created: root must not follow another user's links. */
static void become(uid_t user, gid_t group) {
  setfsgid(group);
  setfsuid(user);
}

static void become_self(void) {
  setfsuid(geteuid());
  setfsgid(getegid());
}

/* The session's directory, which only its user may enter. */
static int open_session(const struct bind *bind) {
  char above[PATH_MAX];
  struct stat status;
  snprintf(above, sizeof above, "%s", bind->session);
  *strrchr(above, '/') = 0;
  become(bind->user, bind->group);
  mkdir(above, MODE);
  mkdir(bind->session, MODE);
  int directory = open(bind->session, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  become_self();
  if (directory >= 0 && (fstat(directory, &status) != 0 || status.st_uid != bind->user)) {
    close(directory);
    errno = EPERM;
    return -1;
  }
  return directory;
}

/* A mount of the directory, not yet attached anywhere; -1 on failure. */
static int clone_tree(int directory, uint64_t attributes) {
  struct mount_attr given = {.attr_set = attributes};
  int tree = (int)syscall(SYS_open_tree, directory, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  return tree >= 0 && syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &given, sizeof given) == 0 ? tree : -1;
}

/* Enters the mount namespace, at the target's root directory. */
static bool enter(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
  int namespace = open(path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/%d/root", pid);
  int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return namespace >= 0 && root >= 0 && setns(namespace, CLONE_NEWNS) == 0 && fchdir(root) == 0 && chroot(".") == 0;
}

/* A new directory with mount points, which becomes the current one. Its path in the target; "" if it cannot be created. */
static void make_points(const struct bind *bind, char *path, size_t capacity) {
  bool made = false;
  become(bind->user, bind->group);
  for (size_t i = 0; i < sizeof places / sizeof *places && !made; i++) {
    struct stat status;
    snprintf(path, capacity, "/%s/.mdl-%d", places[i], bind->pid);
    made = mkdir(path, MODE) == 0;
    int directory = made ? open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    made = directory >= 0 && fstat(directory, &status) == 0 && status.st_uid == bind->user && fchdir(directory) == 0;
    for (size_t n = 0; n < DIRECTORIES && made; n++) {
      made = mkdir(names[n], MODE) == 0;
    }
  }
  become_self();
  if (!made) {
    path[0] = 0;
  }
}

static void take_away(const char *path) {
  for (size_t i = 0; i < DIRECTORIES; i++) {
    umount2(names[i], MNT_DETACH | UMOUNT_NOFOLLOW);
    rmdir(names[i]);
  }
  rmdir(path);
}

/* Until the caller has failed, or the process has ended. */
static void await_end(int process) {
  char byte;
  if (read(STDIN_FILENO, &byte, 1) == 1) {
    int nothing = open("/dev/null", O_RDWR);
    for (int file = STDIN_FILENO; nothing >= 0 && file <= STDERR_FILENO; file++) {
      dup2(nothing, file);
    }
    poll(&(struct pollfd){.fd = process, .events = POLLIN}, 1, -1);
  }
}

const char *bind_directories(const struct bind *bind) {
  char path[NAME_MAX_BYTES];
  int trees[DIRECTORIES];
  int process = (int)syscall(SYS_pidfd_open, bind->pid, 0);
  int installation = open(bind->installation, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int session = open_session(bind);
  if (process < 0 || installation < 0) {
    return because("the installation cannot be shown to it");
  }
  if (session < 0) {
    return because("its session cannot be created");
  }
  trees[0] = clone_tree(installation, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  trees[1] = clone_tree(session, MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (trees[0] < 0 || trees[1] < 0) {
    return because("the installation cannot be mounted in its container");
  }
  if (!enter(bind->pid)) {
    return because("its container cannot be entered");
  }
  make_points(bind, path, sizeof path);
  if (!path[0]) {
    return because("its container has no directory where it may create another, for the installation");
  }
  for (size_t i = 0; i < DIRECTORIES; i++) {
    if (syscall(SYS_move_mount, trees[i], "", AT_FDCWD, names[i], MOVE_MOUNT_F_EMPTY_PATH) != 0) {
      const char *trouble = because("the installation cannot be mounted in its container");
      take_away(path);
      return trouble;
    }
    close(trees[i]);
  }
  setsid();
  printf("%s\n", path);
  fflush(stdout);
  await_end(process);
  take_away(path);
  return NULL;
}
