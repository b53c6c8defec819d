#include "os/self.h"

#include <stdatomic.h>
#include <unistd.h>

THREAD_LOCAL struct mdl_thread *mdl_self;
THREAD_LOCAL bool is_agent_thread;
THREAD_LOCAL size_t self_stack_bytes;
pid_t process_pid;
bool process_was_attached;
_Atomic bool process_is_confined;
_Atomic bool process_exiting;

void process_exits(void) {
  if (process_pid && getpid() == process_pid) {
    atomic_store(&process_exiting, true);
  }
}
