/* Calls whose frames contradict a monotonic clock: the call began after its end, as for a thread that moves to a processor whose
 * counter is behind, and the callees took longer than the call. */
#include <mdl/layout.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#define QUIET __attribute__((no_instrument_function, patchable_function_entry(0, 0)))

enum { CALLS = 1000, WORDS = 64 };

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

/* Of the call that runs: in the frame on top of the shadow stack, where functions have hooks. Else it is on the stack, where
 * the latest time is when it began. */
QUIET __attribute__((noinline)) static struct mdl_call *call_around(void) {
  for (struct mdl_thread *thread = (struct mdl_thread *)session->threads; thread;
       thread = (struct mdl_thread *)thread->next) {
    if (thread->tid == (uint32_t)gettid() && thread->sp - thread->sp_base > sizeof(struct mdl_frame)) {
      return &((struct mdl_frame *)thread->sp - 1)->call;
    }
  }
  uint64_t *words = __builtin_frame_address(0);
  uint64_t now = __rdtsc();
  int latest = 1;
  for (int i = 1; i < WORDS; i++) {
    latest = now - words[i] < now - words[latest] ? i : latest;
  }
  return (struct mdl_call *)(words + latest - offsetof(struct mdl_call, start) / sizeof *words);
}

__attribute__((noinline)) void begins_late(void) { call_around()->start += AHEAD; }

__attribute__((noinline)) void has_long_callees(void) { call_around()->before -= AHEAD; }

QUIET int main(void) {
  find_session();
  for (int i = 0; i < CALLS; i++) {
    begins_late();
    has_long_callees();
  }
  return 0;
}
