/*
 * Code memory: executable and writable mappings of one memory file. No page is ever both.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

/* A memory file of `length` bytes and its writable mapping: the descriptor, or -errno. */
static int code_file(uint64_t length, void **alias) {
  int file = memfd_create("mdl-code", MFD_CLOEXEC | MFD_EXEC);
  if (file < 0 && errno == EINVAL) {
    file = memfd_create("mdl-code", MFD_CLOEXEC); /* before Linux 6.3 */
  }
  if (file < 0) {
    return -errno;
  }
  /* Backed now: a store to the alias must not fault later. */
  int error = fallocate(file, 0, 0, (off_t)length) < 0 ? -errno : 0;
  if (!error) {
    *alias = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = *alias == MAP_FAILED ? -errno : 0;
  }
  if (error) {
    close(file);
    return error;
  }
  return file;
}

/* Private, so that a debugger can write its breakpoints; stores through the alias are still seen. */
static int64_t map_executable(uint64_t at, uint64_t length, int flags, int file, void *alias) {
  void *mapped = mmap((void *)at, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | flags, file, 0);
  int64_t result = (int64_t)(uintptr_t)alias;
  if (mapped == MAP_FAILED) {
    result = -errno;
  } else if ((uintptr_t)mapped != at) {
    munmap(mapped, length); /* before Linux 4.17 the address is a hint */
    result = -EEXIST;
  }
  if (result < 0) {
    munmap(alias, length);
  }
  close(file);
  return result;
}

static bool is_page_aligned(uint64_t value) { return (value & 4095) == 0; }

int64_t code_remap(uint64_t start, uint64_t length) {
  void *alias = NULL;
  if (!is_page_aligned(start) || !is_page_aligned(length) || length == 0) {
    return -EINVAL;
  }
  int file = code_file(length, &alias);
  if (file < 0) {
    return file;
  }
  process_hold_forks();
  memcpy(alias, (const void *)start, length);
  return map_executable(start, length, MAP_FIXED, file, alias);
}

int64_t code_map(uint64_t at, uint64_t length) {
  void *alias = NULL;
  if (!is_page_aligned(at) || !is_page_aligned(length) || length == 0) {
    return -EINVAL;
  }
  int file = code_file(length, &alias);
  if (file < 0) {
    return file;
  }
  return map_executable(at, length, MAP_FIXED_NOREPLACE, file, alias);
}

int64_t code_sync_cores(void) {
  static _Atomic bool registered;
  if (!registered) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) < 0) {
      return -errno;
    }
    registered = true;
  }
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) < 0 ? -errno : 0;
}

uint64_t code_exchange(uint64_t alias, uint64_t expected, uint64_t value) {
  __asm__ volatile("lock cmpxchgq %2, (%1)" : "+a"(expected) : "r"(alias), "r"(value) : "memory", "cc");
  return expected;
}

uint64_t code_wait_until(uint64_t tsc) {
  uint64_t now;
  do {
    now = __rdtsc(); /* no pause: it is as long as a good part of what is waited for */
  } while ((int64_t)(tsc - now) > 0);
  return now;
}

void code_switch_all_off(void) {
  struct mdl_header *header = session;
  if (!header) {
    return;
  }
  uint32_t count = __atomic_load_n(&header->site_count, __ATOMIC_ACQUIRE);
  const struct mdl_site *sites = (const struct mdl_site *)header->sites;
  for (uint32_t i = 0; sites && i < count; i++) {
    if (sites[i].store) {
      code_store(sites[i].store, sites[i].off, sites[i].size);
    }
  }
}

int64_t code_toggle(const uint32_t *sites, int64_t n, int64_t on) {
  const struct mdl_site *all = (const struct mdl_site *)session->sites;
  if (agent_is_dead()) {
    return 0;
  }
  for (int64_t i = 0; i < n; i++) {
    const struct mdl_site *site = &all[sites[i]];
    code_store(site->store, on ? site->on : site->off, site->size);
  }
  __atomic_fetch_add(&session->toggles, (uint64_t)n, __ATOMIC_RELAXED);
  if (agent_is_dead()) {
    code_switch_all_off(); /* died meanwhile: its loop may have run before these stores */
  }
  return n;
}
