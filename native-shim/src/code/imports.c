/*
 * The GOT words through which the program calls functions of its libraries. The dynamic linker fills them at load time or at
 * first use. The agent replaces the addresses, by one store each.
 */
#include "code/imports.h"

#include "os/gate.h"
#include "os/glibc.h"
#include "session/kin.h"
#include "session/life.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* Words that were exchanged before the agent was ready. */
static struct exchange {
  struct exchange *next;
  uint64_t word, before, now;
  bool is_read_only;
} * early;

uint64_t imports_find(const char *symbol, const char *version) {
  gate_lock();
  void *found = *version ? dlvsym(RTLD_DEFAULT, symbol, version) : dlsym(RTLD_DEFAULT, symbol);
  gate_unlock();
  return (uintptr_t)found;
}

static int protect(uint64_t word, int rights) { return mprotect((void *)(word & -(uint64_t)PAGE), PAGE, rights); }

/* Atomic: threads may call through the word meanwhile, and the dynamic linker may store to it. */
static int64_t exchange(uint64_t word, uint64_t expected, uint64_t value, bool is_read_only) {
  if (is_read_only && protect(word, PROT_READ | PROT_WRITE) != 0) {
    return -errno;
  }
  bool stored = __atomic_compare_exchange_n((uint64_t *)word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (is_read_only && protect(word, PROT_READ) != 0) {
    return -errno;
  }
  return stored;
}

int64_t imports_exchange(const uint64_t *change, int64_t is_read_only) {
  if (agent_is_dead()) {
    return -ECANCELED;
  }
  struct exchange *one = atomic_load(&kin_has_probes) ? NULL : malloc(sizeof *one);
  gate_lock(); /* so that a child has both the new word and the note, or neither */
  int64_t result = exchange(change[0], change[1], change[2], is_read_only);
  if (one && result == 1) {
    *one = (struct exchange){early, change[0], change[1], change[2], is_read_only};
    early = one;
    one = NULL;
  }
  gate_unlock();
  free(one);
  return result;
}

void imports_take_back(void) {
  for (const struct exchange *one = early; one; one = one->next) {
    exchange(one->word, one->now, one->before, one->is_read_only);
  }
  early = NULL;
}
