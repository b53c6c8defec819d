/* MDL_OPTIONS and properties files, as the process started with them. */
#ifndef MDL_OPTIONS_H
#define MDL_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

/* Which of the programs that a process with the library executes get an agent. */
enum children { CHILDREN_PROBED, CHILDREN_NONE, CHILDREN_ALL };

struct options {
  enum children children;
  unsigned start_delay_millis;
  unsigned library_functions; /* room for those of libraries that are opened later, when given */
  bool wait;
  char state_home[PATH_MAX];
  char home[PATH_MAX];
  char config[PATH_MAX]; /* MDL_CONFIG */
  char session[PATH_MAX]; /* absolute, "" when not given */
  char text[4096];        /* MDL_OPTIONS as the process started with it */
  char jvm_extra[4096];   /* MDL_JVM_EXTRA: further JVM options, for making the AOT cache */
};
extern struct options options;

/* Takes what it needs, and all that the agent ever has, from `environment` itself: an application may export a getenv of its
 * own, and may overwrite the strings later. */
void options_read(char *const *environment);

#endif
