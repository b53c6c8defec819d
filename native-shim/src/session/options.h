/* MDL_OPTIONS and properties files, read at process start. */
#ifndef MDL_OPTIONS_H
#define MDL_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Which executed programs get an agent: the values of the option in mdl/options.def, in their order. */
enum children { CHILDREN_NONE, CHILDREN_PROBED, CHILDREN_ALL };

struct options {
  enum children children;
  unsigned start_delay_millis;
  unsigned library_functions; /* function slots for libraries opened later, if given */
  bool wait;
  char state_home[PATH_MAX];
  char home[PATH_MAX];
  char config[PATH_MAX]; /* MDL_CONFIG */
  char session[PATH_MAX]; /* absolute, "" if not given */
  char text[4096];        /* MDL_OPTIONS at process start */
  char jvm_extra[4096];   /* MDL_JVM_EXTRA: further JVM options, for making the AOT cache */
  unsigned readers_pid;   /* MDL_READERS_PID: this process's id in the PID namespace of who reads the session; 0: the same */
  bool session_in_directory; /* MDL_SESSION_IN_DIRECTORY: readers have another /dev/shm */
};
extern struct options options;

/* Copies everything that the agent needs from `environment`: an application may export its own getenv, and may overwrite
 * the strings later. */
void options_read(char *const *environment);

/* The id by which the session's readers know a process: this one, or one that it has forked. */
uint32_t options_readers_pid(pid_t pid);

#endif
