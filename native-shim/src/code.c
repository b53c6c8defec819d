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

/* ---- sites */

/*
 * A site has two that may want it on: the recorder (the agent, and application threads that close windows), and a client
 * (fastinst.h), or two at a whole function: one of its begin, one of its return. Each keeps its own wish in the site's
 * record and stores the instruction that all wishes ask for.
 *
 * Assumes    A1 x86-TSO: what stands before a fence is seen by others before what stands behind it is done (Intel SDM
 *               vol. 3, 8.2; AMD APM vol. 2, 7.2)
 *            A2 each wish has one writer at a time: `recording` by the protocol of windows (record.c), `client` by a lock
 *               (client.c)
 * Guarantees G1 once nobody is between steps 1 and 3, a site is on if and only if somebody wants it
 * Progress   P1 no locks; step 3 repeats only when another has stored in between
 *
 *   whoever changes his wish                       another
 *   1 write the wish
 *   2 store the instruction that all wishes        1, 2 and 3 of his
 *     ask for
 *   3 fence; while the instruction is not what
 *     all wishes ask for: again 2, fence
 *
 * G1: take the last store of an instruction. Who made it has then fenced and read all wishes, and it was what they asked
 * for. A wish that was written after that read would have been followed by a store of its own, and this would not be
 * the last.
 */
bool code_is_recording(const struct mdl_site *site) { return __atomic_load_n(&site->recording, __ATOMIC_RELAXED); }

bool code_has_client(const struct mdl_site *site) { return __atomic_load_n(&site->client, __ATOMIC_RELAXED) != 0; }

static uint32_t wanted(const struct mdl_site *site) {
  bool on = code_is_recording(site) || code_has_client(site) || (site->kind == MDL_WHOLE && code_has_client(site + 1));
  return on ? site->on : site->off;
}

void code_follow(const struct mdl_site *site) { code_store(site->store, wanted(site), site->size); }

void code_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static bool is_as_wanted(const struct mdl_site *site) {
  switch (site->size) {
    case 1: return __atomic_load_n((const uint8_t *)site->store, __ATOMIC_RELAXED) == (uint8_t)wanted(site);
    case 2: return __atomic_load_n((const uint16_t *)site->store, __ATOMIC_RELAXED) == (uint16_t)wanted(site);
    default: return __atomic_load_n((const uint32_t *)site->store, __ATOMIC_RELAXED) == wanted(site);
  }
}

void code_confirm(const struct mdl_site *site) {
  while (!is_as_wanted(site)) {
    code_follow(site);
    code_fence();
  }
}

void code_record(struct mdl_site *site, bool on) {
  __atomic_store_n(&site->recording, on, __ATOMIC_RELAXED);
  code_follow(site);
}

/* Nobody wants any site from now on. */
void code_switch_all_off(void) {
  struct mdl_header *header = session;
  if (!header) {
    return;
  }
  uint32_t count = __atomic_load_n(&header->site_count, __ATOMIC_ACQUIRE);
  struct mdl_site *sites = (struct mdl_site *)header->sites;
  for (uint32_t i = 0; sites && i < count; i++) {
    if (sites[i].store) {
      __atomic_store_n(&sites[i].recording, 0, __ATOMIC_RELAXED);
      __atomic_store_n(&sites[i].client, 0, __ATOMIC_RELAXED);
      code_store(sites[i].store, sites[i].off, sites[i].size);
    }
  }
}

int64_t code_toggle(const uint32_t *sites, int64_t n, int64_t on) {
  struct mdl_site *all = (struct mdl_site *)session->sites;
  if (agent_is_dead()) {
    return 0;
  }
  for (int64_t i = 0; i < n; i++) {
    code_record(&all[sites[i]], on);
  }
  code_fence();
  for (int64_t i = 0; i < n; i++) {
    code_confirm(&all[sites[i]]);
  }
  __atomic_fetch_add(&session->toggles, (uint64_t)n, __ATOMIC_RELAXED);
  if (agent_is_dead()) {
    code_switch_all_off(); /* died meanwhile: its loop may have run before these stores */
  }
  return n;
}
