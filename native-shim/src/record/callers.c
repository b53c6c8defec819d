#include "record/callers.h"

#include "record/interruptible.h"
#include "record/rows.h"
#include "session/apart.h"
#include "session/memory.h"

#include <stdbool.h>
#include <stddef.h>

/* What the rows of a process that has given up rights refer to: callers are not known there. */
static struct mdl_caller nobody;
static struct mdl_callers untold = {.others = (uintptr_t)&nobody};

static struct mdl_callers *callers_of(const struct mdl_thread *thread, struct mdl_row *row) {
  if (thread->apart) {
    row->callers = (uintptr_t)&untold;
    return &untold;
  }
  return (struct mdl_callers *)session_allocate_once(&row->callers, sizeof(struct mdl_callers));
}

/* The structure of a place in the list that begins with `first`, or NULL; its length, if it is not found. */
static struct mdl_caller *find(uint64_t first, uint64_t from, uint64_t below, uint32_t *length) {
  *length = 0;
  struct mdl_caller *caller = (struct mdl_caller *)first;
  while (caller && (caller->from != from || caller->below != below)) {
    ++*length;
    caller = (struct mdl_caller *)caller->next;
  }
  return caller;
}

/* Tells the agent: the list grows only at its head. */
static void announce(struct mdl_caller *caller) {
  caller->next_new = __atomic_load_n(&session->new_callers, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&session->new_callers, &caller->next_new, (uintptr_t)caller, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
}

static struct mdl_caller *caller_at(struct mdl_callers *callers, uint32_t function, uint64_t from, uint64_t below) {
  uint64_t *list = &callers->lists[from % MDL_CALLER_LISTS];
  uint64_t first = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  uint32_t length;
  struct mdl_caller *caller = find(first, from, below, &length);
  if (caller || callers == &untold) {
    return caller ? caller : &nobody;
  }
  if (from == 0 || length >= MDL_CALLER_LIST_MAX) {
    return (struct mdl_caller *)session_allocate_once(&callers->others, sizeof *caller);
  }
  caller = (struct mdl_caller *)session_allocate(sizeof *caller);
  if (!caller) {
    return NULL;
  }
  caller->from = from;
  caller->below = below;
  caller->function = function;
  do {
    caller->next = first;
  } while (!__atomic_compare_exchange_n(list, &first, (uintptr_t)caller, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  announce(caller);
  return caller;
}

void record_in_callers(struct mdl_thread *thread, const struct mdl_function *function, uint64_t from, uint64_t below, uint64_t ticks) {
  struct mdl_row *row = record_row(thread, function);
  struct mdl_callers *callers = row ? callers_of(thread, row) : NULL;
  struct mdl_caller *caller = callers ? caller_at(callers, function->index, from, below) : NULL;
  if (caller) {
    add(&caller->calls, 1);
    add(&caller->total, ticks);
  }
}
