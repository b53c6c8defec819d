/*
 * Makes the installation and a session's directory visible to a process with another view of the file system: in a container,
 * or after chroot.
 *
 * Both are bind mounts in the target's mount namespace, below a new directory that the target's user owns. They are taken away,
 * with that directory, when the process ends, or at once if the attach fails: the caller keeps this program's standard input
 * open, and writes one byte there when it has succeeded.
 */
#ifndef MDL_BIND_H
#define MDL_BIND_H

#include <sys/types.h>

struct bind {
  pid_t pid;
  const char *installation; /* absolute */
  const char *session;      /* absolute; created for the user, with its parent, unless it exists */
  uid_t user;               /* of the target */
  gid_t group;
};

/* Prints the path in the target that has `installation` and `session`, and serves until they are taken away. NULL, or why
 * it is impossible. */
const char *bind_directories(const struct bind *bind);

#endif
