/* A session in its own directory, with functions and sites whose code is an array of bytes. */
#ifndef MDL_FIXTURE_H
#define MDL_FIXTURE_H

#include "agent/begin.h"
#include "agent/construct.h"
#include "check.h"
#include "os/self.h"
#include "session/file.h"
#include "session/options.h"
#include "session/session.h"

enum { FUNCTIONS = 8, ENTRY_ON = 0xE8, EXIT_ON = 0xE9, OFF = 0x90 };

static char scratch[64];
static bool scratch_stays; /* for tests that open the session file, and remove the directory themselves */
static struct mdl_function *functions;
static struct mdl_site *sites; /* function i: entry 2i, exit 2i + 1 */
static uint8_t *code;
static uint64_t *lookup;

static inline void remove_scratch(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", scratch);
  if (system(command) != 0) {
    fprintf(stderr, "%s stays\n", scratch);
  }
}

static inline void make_scratch(void) {
  strcpy(scratch, "/dev/shm/mdl-shim-test.XXXXXX");
  if (!mkdtemp(scratch)) {
    strcpy(scratch, "/tmp/mdl-shim-test.XXXXXX");
    CHECK(mkdtemp(scratch) != NULL);
  }
  session_memory_root = scratch;
}

static inline void create_session(void) {
  make_scratch();
  process_start();
  struct instant now = instant_now();
  snprintf(options.session, sizeof options.session, "%s/session", scratch);
  const char *trouble = agent_begin_session(&now);
  if (trouble) {
    fprintf(stderr, "%s\n", trouble);
  }
  CHECK(trouble == NULL);
  if (!scratch_stays) {
    remove_scratch(); /* Most tests need only the mapping: nothing is left behind however they end. */
  }
}

static inline uint64_t address_of(int function) { return 0x400000 + 0x40 * (uint64_t)function; }

static inline void fixture(bool exact) {
  create_session();
  session->flags = exact ? MDL_EXACT : 0;
  session->clock_ticks = 0; /* so that sums contain only measured times */
  session->clock_cpu_nanos = 0;
  session->function_capacity = FUNCTIONS;
  session->site_capacity = 2 * FUNCTIONS;
  session->functions = session_allocate(FUNCTIONS * sizeof *functions);
  session->sites = session_allocate(2 * FUNCTIONS * sizeof *sites);
  session->lookup = session_allocate(32 * sizeof *lookup);
  session->lookup_mask = 31;
  session->unknown_function = session_allocate(sizeof *functions);
  uint32_t *lists = (uint32_t *)session_allocate(2 * FUNCTIONS * sizeof *lists);
  code = (uint8_t *)session_allocate(2 * FUNCTIONS);
  functions = (struct mdl_function *)session->functions;
  sites = (struct mdl_site *)session->sites;
  lookup = (uint64_t *)session->lookup;
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    struct mdl_function *function = &functions[i];
    *function = (struct mdl_function){.address = address_of((int)i), .index = i, .entry_sites = 1, .exit_sites = 1};
    lists[2 * i] = 2 * i + 1;
    lists[2 * i + 1] = 2 * i;
    function->site_list = (uintptr_t)(lists + 2 * i);
    for (uint32_t kind = 0; kind < 2; kind++) {
      uint32_t index = 2 * i + kind;
      sites[index] = (struct mdl_site){.function = (uintptr_t)function,
                                       .store = (uintptr_t)(code + index),
                                       .on = kind == 0 ? ENTRY_ON : EXIT_ON,
                                       .off = OFF,
                                       .size = 1,
                                       .kind = (uint8_t)kind,
                                       .owner = (uintptr_t)function,
                                       .index = index};
      code[index] = OFF;
    }
    uint64_t slot = (((function->address >> 4) * 0x9E3779B97F4A7C15ULL) >> 32) & 31;
    while (lookup[slot]) {
      slot = (slot + 1) & 31;
    }
    lookup[slot] = (uintptr_t)function;
  }
  session->function_count = FUNCTIONS;
  session->site_count = 2 * FUNCTIONS;
}

static inline struct mdl_site *entry_of(int function) { return &sites[2 * function]; }
static inline struct mdl_site *exit_of(int function) { return &sites[2 * function + 1]; }

static inline int depth(void) {
  return (int)((mdl_self->sp - mdl_self->sp_base) / sizeof(struct mdl_frame)) - 1;
}

#endif
