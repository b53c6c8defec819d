/*
 * The session's directory, and the session file in it: a sparse file, normally in /dev/shm with a link to it, so that no store
 * to its mapping ever waits for a disk.
 */
#ifndef MDL_FILE_H
#define MDL_FILE_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct session_file {
  struct mdl_header *mapping;
  uint64_t limit;  /* bytes mapped */
  uint64_t backed; /* bytes that memory is behind */
  dev_t device;
  ino_t inode;
  char directory[sizeof((struct mdl_header *)NULL)->directory]; /* the last that was tried */
};

/* A variable for the tests' sake. */
extern const char *session_memory_root;

/*
 * Nobody opens it for writing by mistake: a file that becomes shorter kills whoever has it mapped and touches it. Root may
 * all the same.
 */
enum { SESSION_FILE_MODE = 0400 };
/* In `where`, or, if that may be taken and is, below it: 0 or -errno. `id` names the session. */
int session_file_create(struct session_file *file, const char *where, const char *id, bool may_be_taken);
/* Another file of the user's in memory, all of it there from the beginning: a descriptor for writing, or -errno. */
int memory_file_create(const char *name, uint64_t bytes);
/* One that there is: a descriptor for reading, or -errno. */
int memory_file_open(const char *name);
void memory_file_remove(const char *name);
/* And those above it, for their owner alone: 0 or -errno. */
int session_make_directories(const char *path);
/* The user's own directory below `root`, where anybody may have put something of that name before: 0 or -errno. */
int private_directory(const char *root, char *path, size_t capacity);
/*
 * Gives what we have just made its mode, if a umask took its owner's rights: 0 or -errno. Not through a link that somebody
 * has put there.
 */
int repair_mode(int directory, const char *name, mode_t mode);
const char *error_name(int error);

#endif
