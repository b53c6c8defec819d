#include "agent/attach.h"

#include "agent/construct.h"
#include "agent/start.h"
#include "code/rebind.h"
#include "os/attributes.h"
#include "os/library.h"
#include "os/program.h"
#include "os/self.h"
#include "os/signal_block.h"
#include "session/options.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

enum { VARIABLES = 16 };

static char text[16384];
static char *variables[VARIABLES + 1];

static void split_lines(const char *lines) {
  strncpy(text, lines, sizeof text - 1);
  int count = 0;
  for (char *at = text; *at && count < VARIABLES;) {
    variables[count++] = at;
    at += strcspn(at, "\n");
    if (*at) {
      *at++ = 0;
    }
  }
}

/* The wrappers of libc's functions are installed last, once they can be called, and before the JVM exists. */
EXPORT int mdl_attach(const char *environment) {
  static _Atomic bool begun;
  if (process_pid || atomic_load(&process_is_confined) || atomic_exchange(&begun, true)) {
    return ATTACHED_BEFORE;
  }
  if (program_is_go()) {
    return ATTACH_OF_GO;
  }
  if (getauxval(AT_SECURE)) {
    return ATTACH_OF_SECURE; /* the environment may come from a less privileged user */
  }
  split_lines(environment);
  options_read(variables);
  options.wait = false;
  options.start_delay_millis = 0;
  process_was_attached = true;
  process_start();
  library_find_directory();
  rebind_wrappers();
  agent_start();
  return ATTACHED;
}
