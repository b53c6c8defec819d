/*
 * The words through which the program calls functions of its libraries, which the dynamic linker has filled, or will
 * when they are first used. The agent puts other addresses there, by one store.
 */
#include "code/imports.h"

#include "os/gate.h"
#include "os/glibc.h"
#include "session/life.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

uint64_t imports_find(const char *symbol, const char *version) {
  gate_lock();
  void *found = *version ? dlvsym(RTLD_DEFAULT, symbol, version) : dlsym(RTLD_DEFAULT, symbol);
  gate_unlock();
  return (uintptr_t)found;
}

static int protect(uint64_t word, int rights) { return mprotect((void *)(word & -(uint64_t)PAGE), PAGE, rights); }

/* Others may call through the word meanwhile, and the dynamic linker may store to it. */
int64_t imports_exchange(const uint64_t *change, int64_t is_read_only) {
  uint64_t expected = change[1];
  if (agent_is_dead()) {
    return -ECANCELED;
  }
  if (is_read_only && protect(change[0], PROT_READ | PROT_WRITE) != 0) {
    return -errno;
  }
  bool stored = __atomic_compare_exchange_n((uint64_t *)change[0], &expected, change[2], false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST);
  if (is_read_only && protect(change[0], PROT_READ) != 0) {
    return -errno;
  }
  return stored;
}
