/* The thread's values are allocated at its first snippet. */
#include "record/snippets.h"

#include "record/files.h"
#include "record/thread.h"
#include "session/memory.h"

#include <errno.h>

__attribute__((used)) uint64_t *snippets_values(void) {
  int error = errno;
  struct mdl_thread *thread = record_thread();
  uint64_t values = thread ? session_allocate_once(&thread->values, MDL_VALUES * sizeof(uint64_t)) : 0;
  errno = error;
  return (uint64_t *)values;
}

/* A call under way. */
struct call {
  struct mdl_thread *thread;
  uint64_t *values;
  bool has_returned;
};

/* An exception, or the end of the thread, also leaves the snippet. */
static void end_call(struct call *call) {
  if (mdl_self != call->thread) {
    return; /* a process forked by the function: the block is its parent's */
  }
  if (!call->has_returned) {
    call->values[MDL_VALUE_DEPTH]--;
  }
  call->thread->in_call = 0;
}

/* The values of a process forked by the function: it is in the same snippet. */
static uint64_t *values_of_child(void) {
  static uint64_t nobodys[MDL_VALUES];
  uint64_t *values = snippets_values();
  if (!values) {
    return nobodys;
  }
  values[MDL_VALUE_DEPTH]++;
  return values;
}

__attribute__((used)) struct snippet_result snippets_call(uint64_t function, const uint64_t arguments[SNIPPET_ARGUMENTS]) {
  struct mdl_thread *thread = record_known_thread();
  if (function == (uintptr_t)files_note) { /* it reaches no probe, and must always run */
    return (struct snippet_result){
        .result = files_note(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]),
        .values = (uint64_t *)thread->values};
  }
  if (thread->in_call) {
    return (struct snippet_result){0};
  }
  thread->in_call = 1; /* a handler may have cleared it */
  int error = errno;
  struct call __attribute__((cleanup(end_call))) call = {.thread = thread, .values = (uint64_t *)thread->values};
  /* The function may have any number of parameters, or be variadic (System V ABI, 3.2.3: then AL is the number of vector
   * registers). */
  uint64_t (*called)(uint64_t, ...) = (uint64_t (*)(uint64_t, ...))function;
  uint64_t result = called(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  call.has_returned = true;
  uint64_t *values = mdl_self == thread ? call.values : values_of_child();
  errno = error;
  return (struct snippet_result){.result = result, .values = values};
}
