#include "os/wrapper.h"

#include "os/process_stat.h"
#include "os/sys.h"
#include "os/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char agent_name[] = "mdlagent";

enum { PATH_BYTES = 64, NAME_BYTES = 16 };

void wrapper_show_agent(void) { raw_syscall(SYS_prctl, PR_SET_NAME, agent_name, 0L, 0L, 0L); }

/* A new thread inherits its creator's current name. */
int wrapper_show_thread(int (*start)(void)) {
  char name[NAME_BYTES] = "";
  raw_syscall(SYS_prctl, PR_GET_NAME, name, 0L, 0L, 0L);
  wrapper_show_agent();
  int result = start();
  raw_syscall(SYS_prctl, PR_SET_NAME, name, 0L, 0L, 0L);
  return result;
}

void wrapper_hide_agent(void) { raw_syscall(SYS_prctl, PR_SET_NAME, "mdlagent ends", 0L, 0L, 0L); }

static bool look_for_agent(pid_t process, pid_t thread, void *result) {
  char path[PATH_BYTES], name[NAME_BYTES + 1];
  snprintf(path, sizeof path, "/proc/%d/task/%d/comm", process, thread);
  read_text(path, name, sizeof name);
  name[strcspn(name, "\n")] = 0;
  pid_t *found = result;
  *found = strcmp(name, agent_name) == 0 ? thread : 0;
  return *found == 0;
}

pid_t wrapper_agent_of(pid_t process) {
  pid_t found = 0;
  tasks_each(process, look_for_agent, &found);
  return found;
}

bool wrapper_has_agent(pid_t process) { return wrapper_agent_of(process) != 0; }

static pid_t parent_of(pid_t process) {
  enum { PARENT = 4 };
  return (pid_t)process_stat_number(process, PARENT);
}

/* Every process takes page faults at start, so faults of children show that a child has been waited for. */
static bool had_children(pid_t process) {
  enum { FAULTS_OF_CHILDREN = 11 };
  return process_stat_number(process, FAULTS_OF_CHILDREN) != 0;
}

struct children {
  pid_t one;
  bool some_more;
};

static bool collect_children(pid_t process, pid_t thread, void *result) {
  struct children *children = result;
  char path[PATH_BYTES], text[256];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, thread);
  read_text(path, text, sizeof text);
  char *end = text;
  for (long child; (child = strtol(end, &end, 10)) > 0;) {
    children->some_more |= children->one != 0;
    children->one = (pid_t)child;
  }
  return !children->some_more;
}

pid_t wrapper_only_child(pid_t process) {
  struct children children = {0, false};
  if (!had_children(process)) {
    tasks_each(process, collect_children, &children);
  }
  return children.some_more ? 0 : children.one;
}

/* /proc shows the number of main's system call to processes that may trace it, and the kernel function to those that may
 * read it. */
bool wrapper_waits(pid_t process) {
  static const char *const functions[] = {"do_wait", "sigtimedwait", "sigsuspend", "pause"};
  char path[PATH_BYTES], text[128];
  snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", process, process);
  read_text(path, text, sizeof text);
  char *end;
  long number = strtol(text, &end, 10);
  if (end != text) {
    return number == SYS_wait4 || number == SYS_waitid || number == SYS_rt_sigtimedwait || number == SYS_rt_sigsuspend ||
           number == SYS_pause;
  }
  snprintf(path, sizeof path, "/proc/%d/wchan", process);
  read_text(path, text, sizeof text);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strstr(text, functions[i])) {
      return true;
    }
  }
  return false;
}

bool wrapper_has_executed(pid_t process, int thread) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%d/task/%d", process, thread);
  return thread != 0 && access(path, F_OK) != 0 && wrapper_has_agent(process);
}

pid_t wrapper_outermost(void) {
  pid_t outermost = getppid();
  for (pid_t at = parent_of(outermost); at > 0 && wrapper_has_agent(at); at = parent_of(at)) {
    outermost = at;
  }
  return outermost;
}
