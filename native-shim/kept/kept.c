/* The facts about program files (session/image_cache.h) for the command line, which must not load the agent. */
#include "os/library.h"
#include "session/image_cache.h"
#include "session/options.h"

#include <errno.h>
#include <string.h>

struct options options; /* only state_home is used */

static int open_cache(const char *state_home) {
  if (strlen(state_home) >= sizeof options.state_home) {
    return -ENAMETOOLONG;
  }
  strcpy(options.state_home, state_home);
  library_find_directory();
  return library_directory[0] ? 0 : -ENOENT;
}

/* As image_cache_read. The library must be in the directory of libmdlagent.so. */
int64_t kept_read(const char *state_home, const char *name, void *bytes, int64_t capacity) {
  int error = open_cache(state_home);
  return error ? error : image_cache_read(name, bytes, capacity);
}

/* As image_cache_write. */
int64_t kept_write(const char *state_home, const char *name, const void *bytes, int64_t length) {
  int error = open_cache(state_home);
  return error ? error : image_cache_write(name, bytes, length);
}
