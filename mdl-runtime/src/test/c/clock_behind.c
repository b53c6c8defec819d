/* Calls whose frames say what no clock that only grows would: that they began later than they end, as where a thread goes on on a
 * processor whose counter is behind, and that their callees took longer than they did themselves. */
#include <mdl/layout.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, patchable_function_entry(0, 0)))

enum { CALLS = 1000 };

static const uint64_t AHEAD = 1ULL << 40;
static struct mdl_header *session;

QUIET static void find_session(void) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (!session && fgets(line, sizeof line, maps)) {
    unsigned long start;
    if (strstr(line, ".mdl\n") && sscanf(line, "%lx", &start) == 1) {
      session = (struct mdl_header *)start;
    }
  }
  fclose(maps);
}

/* Of the call that runs in this thread. */
QUIET static struct mdl_frame *frame(void) {
  for (struct mdl_thread *thread = (struct mdl_thread *)session->threads; thread;
       thread = (struct mdl_thread *)thread->next) {
    if (thread->tid == (uint32_t)gettid()) {
      return (struct mdl_frame *)thread->sp - 1;
    }
  }
  return NULL;
}

__attribute__((noinline)) void begins_late(void) { frame()->tsc += AHEAD; }

__attribute__((noinline)) void has_long_callees(void) { frame()->children += AHEAD; }

QUIET int main(void) {
  find_session();
  for (int i = 0; i < CALLS; i++) {
    begins_late();
    has_long_callees();
  }
  return 0;
}
