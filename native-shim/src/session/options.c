#include "session/options.h"

#include "session/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options options;

enum { DELAY_UNSET = UINT_MAX };

/* OPTION_WAIT_KEY and so on: arrays, of which only those that are used get into the library, without relocations. */
#define UNUSED __attribute__((unused))
#define OPTION(name, key, type, normal, least, most, values)                                                     \
  enum { OPTION_##name##_LEAST = least, OPTION_##name##_MOST = most };                                           \
  UNUSED static const char OPTION_##name##_KEY[] = key, OPTION_##name##_DEFAULT[] = normal;                      \
  UNUSED static const char OPTION_##name##_VALUES[] = values;
#define COMMAND_LINE(name, names, label, value, commands, text)
#include <mdl/options.def>

#define READ_NUMBER(option, number, value, length) \
  read_number(number, value, length, OPTION_##option##_LEAST, OPTION_##option##_MOST)

static const char *variable(char *const *environment, const char *name) {
  size_t length = strlen(name);
  for (; environment && *environment; environment++) {
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return NULL;
}

static bool copy(char *to, size_t capacity, const char *from, size_t length) {
  bool fits = length < capacity;
  if (!fits) {
    length = capacity - 1;
  }
  memcpy(to, from, length);
  to[length] = 0;
  return fits;
}

static bool is(const char *text, size_t length, const char *expected) {
  return strlen(expected) == length && memcmp(text, expected, length) == 0;
}

static bool is_on(const char *value, size_t length) {
  return length == 0 || is(value, length, "on") || is(value, length, "true") || is(value, length, "yes") ||
         is(value, length, "1");
}

/* The number of a value in a list with bars between. */
static unsigned choice(const char *values, const char *value, size_t length, unsigned otherwise) {
  for (unsigned number = 0;; number++) {
    size_t own = strcspn(values, "|");
    if (own == length && memcmp(values, value, length) == 0) {
      return number;
    }
    if (!values[own]) {
      return otherwise;
    }
    values += own + 1;
  }
}

/* Leaves the number unless the value is a number from `least` to `most`. */
static void read_number(unsigned *number, const char *value, size_t length, unsigned least, unsigned most) {
  unsigned result = 0;
  for (size_t i = 0; i < length; i++) {
    if (value[i] < '0' || value[i] > '9' || result > 100000000) {
      return;
    }
    result = result * 10 + (unsigned)(value[i] - '0');
  }
  if (length > 0 && result >= least && result <= most) {
    *number = result;
  }
}

static unsigned children_default(void) {
  return choice(OPTION_CHILDREN_VALUES, OPTION_CHILDREN_DEFAULT, sizeof OPTION_CHILDREN_DEFAULT - 1, 0);
}

/* Other keys are Java's, which also reports bad values. */
static void apply(const char *key, size_t key_length, const char *value, size_t length) {
  if (is(key, key_length, OPTION_WAIT_KEY)) {
    options.wait = is_on(value, length);
  } else if (is(key, key_length, OPTION_START_DELAY_MILLIS_KEY)) {
    READ_NUMBER(START_DELAY_MILLIS, &options.start_delay_millis, value, length);
  } else if (is(key, key_length, OPTION_LIBRARY_FUNCTIONS_KEY)) {
    READ_NUMBER(LIBRARY_FUNCTIONS, &options.library_functions, value, length);
  } else if (is(key, key_length, OPTION_CHILDREN_KEY)) {
    options.children = (enum children)choice(OPTION_CHILDREN_VALUES, value, length, children_default());
  } else if (is(key, key_length, OPTION_SESSION_KEY)) {
    copy(options.session, sizeof options.session, value, length);
  }
}

static void trim(const char **start, const char **end) {
  while (*start < *end && (**start == ' ' || **start == '\t' || **start == '\r')) {
    ++*start;
  }
  while (*start < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\r')) {
    --*end;
  }
}

/* A value in MDL_OPTIONS ends at a comma; `\,` is a comma and `\\` a backslash, as in Java's AgentOptionsText. Unescaped
 * in place. */
static char *end_of_option(char *text, char *limit, char **next_option) {
  char *to = text;
  while (text < limit && *text != ',') {
    if (*text == '\\' && text + 1 < limit && (text[1] == ',' || text[1] == '\\')) {
      text++;
    }
    *to++ = *text++;
  }
  *next_option = text + 1;
  return to;
}

static char *end_of_line(char *text, char *limit, char **next_line) {
  char *end = memchr(text, '\n', (size_t)(limit - text));
  if (!end) {
    end = limit;
  }
  *next_line = end + 1;
  return end;
}

static void apply_entries(char *text, size_t text_length, char *(*end_of)(char *, char *, char **)) {
  char *limit = text + text_length;
  while (text < limit) {
    char *following;
    const char *end = end_of(text, limit, &following);
    const char *key = text, *key_end = end, *value = end, *value_end = end;
    const char *equals = memchr(text, '=', (size_t)(end - text));
    if (equals) {
      key_end = equals;
      value = equals + 1;
    }
    trim(&key, &key_end);
    trim(&value, &value_end);
    if (key < key_end && *key != '#' && *key != '!') {
      apply(key, (size_t)(key_end - key), value, (size_t)(value_end - value));
    }
    text = following;
  }
}

/* Not inlined, as the next function: each stack page that a process touches costs a fault. */
__attribute__((noinline)) static void apply_contents(int file) {
  char text[16384];
  ssize_t length = read(file, text, sizeof text);
  if (length > 0) {
    apply_entries(text, (size_t)length, end_of_line);
  }
}

static void apply_file(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) {
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
      apply_contents(file);
    }
    close(file);
  }
}

__attribute__((noinline)) static void apply_text(const char *text) {
  if (!copy(options.text, sizeof options.text, text, strlen(text))) {
    log_line("MDL_OPTIONS is cut: it is longer than 4095 bytes", NULL);
  }
  char entries[sizeof options.text];
  strcpy(entries, options.text); /* Java gets the unparsed text */
  apply_entries(entries, strlen(entries), end_of_option);
}

static void join(char *to, size_t capacity, const char *directory, const char *rest) {
  size_t length = strlen(directory), more = strlen(rest);
  if (length + more >= capacity) {
    to[0] = 0;
    return;
  }
  memcpy(to, directory, length);
  memcpy(to + length, rest, more + 1);
}

/* Made absolute now, because the application may have changed its directory when the session directory is created. */
__attribute__((noinline)) static void make_session_absolute(void) {
  char here[PATH_MAX], relative[PATH_MAX];
  strcpy(relative, options.session);
  if (!getcwd(here, sizeof here - 1)) {
    here[0] = 0;
  }
  strcat(here, "/");
  join(options.session, sizeof options.session, here, relative);
}

void options_read(char *const *environment) {
  char path[PATH_MAX];
  options.start_delay_millis = DELAY_UNSET;
  options.wait = is(OPTION_WAIT_DEFAULT, sizeof OPTION_WAIT_DEFAULT - 1, "on");
  options.children = (enum children)children_default();
  const char *home = variable(environment, "HOME");
  const char *state_home = variable(environment, "XDG_STATE_HOME");
  join(options.home, sizeof options.home, home ? home : "", "");
  if (state_home && *state_home == '/') {
    join(options.state_home, sizeof options.state_home, state_home, "");
  } else if (home && *home == '/') {
    join(options.state_home, sizeof options.state_home, home, "/.local/state");
  }

  /* The nearer file wins, so it is read later. */
  apply_file("/etc/mdl/mdl.properties");
  if (home && *home == '/') {
    join(path, sizeof path, home, "/.config/mdl/mdl.properties");
    apply_file(path);
  }
  const char *config = variable(environment, "MDL_CONFIG");
  if (config && *config) {
    join(options.config, sizeof options.config, config, "");
    apply_file(config);
  }
  const char *text = variable(environment, "MDL_OPTIONS");
  if (text) {
    apply_text(text);
  }
  const char *extra = variable(environment, "MDL_JVM_EXTRA");
  if (extra) {
    copy(options.jvm_extra, sizeof options.jvm_extra, extra, strlen(extra));
  }

  const char *pid = variable(environment, "MDL_READERS_PID");
  if (pid) {
    read_number(&options.readers_pid, pid, strlen(pid), 0, INT_MAX);
  }
  options.session_in_directory = variable(environment, "MDL_SESSION_IN_DIRECTORY") != NULL;

  if (options.start_delay_millis == DELAY_UNSET) {
    options.start_delay_millis = 0;
    if (!options.wait) {
      READ_NUMBER(START_DELAY_MILLIS, &options.start_delay_millis, OPTION_START_DELAY_MILLIS_DEFAULT,
                  sizeof OPTION_START_DELAY_MILLIS_DEFAULT - 1);
    }
  }
  if (options.session[0] && options.session[0] != '/') {
    make_session_absolute();
  }
}

/* Processes that it forks have other ids there, which nobody knows here. */
uint32_t options_readers_pid(pid_t pid) {
  static pid_t first;
  first = first ? first : pid;
  return options.readers_pid && pid == first ? options.readers_pid : (uint32_t)pid;
}
