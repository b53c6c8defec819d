/* Directories of the user, and the modes of what is in them. */
#ifndef MDL_DIRECTORIES_H
#define MDL_DIRECTORIES_H

#include <stddef.h>
#include <sys/stat.h>

/* Creates a directory and its parents, accessible to their owner only: 0 or -errno. */
int session_make_directories(const char *path);
/* The user's private directory below `root`, where any user may have created an entry of that name before: 0 or -errno. */
int private_directory(const char *root, char *path, size_t capacity);
/*
 * Restores the mode of an entry that we have just created, if the umask removed its owner's rights: 0 or -errno. Follows no
 * link.
 */
int repair_mode(int directory, const char *name, mode_t mode);

#endif
