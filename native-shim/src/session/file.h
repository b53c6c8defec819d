/*
 * The session's directory and its session file: a sparse file, normally in /dev/shm and linked from the directory, so that
 * stores to its mapping never wait for a disk.
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
  uint64_t backed; /* bytes backed by memory */
  dev_t device;
  ino_t inode;
  char directory[sizeof((struct mdl_header *)NULL)->directory]; /* the last one tried */
};

/* A variable so that tests can change it. */
extern const char *session_memory_root;

/*
 * Read-only, against opening it for writing by mistake: truncating the file kills every process that touches its mapping.
 * Root can still write.
 */
enum { SESSION_FILE_MODE = 0400 };
/* Creates it in `where`, or, if `may_be_taken` and `where` has a session already, in a subdirectory: 0 or -errno. `id`
 * names the session. */
int session_file_create(struct session_file *file, const char *where, const char *id, bool may_be_taken);
/* Creates another file in memory, fully allocated: a descriptor for writing, or -errno. */
int memory_file_create(const char *name, uint64_t bytes);
/* Opens such a file: a descriptor for reading, or -errno. */
int memory_file_open(const char *name);
void memory_file_remove(const char *name);
const char *error_name(int error);

#endif
