/*
 * Code memory: executable and writable mappings of one memory file. No page is ever both.
 *
 * Text with sites is copied into one file. Its writable mapping, which holds the aliases of all sites, is created before the
 * session. So every process of a family has it, wherever the agent's process opens a library later, and a store to a site
 * never faults, even after its library was closed.
 */
#include "code/code.h"

#include "os/gate.h"
#include "os/own_memory.h"
#include "os/place.h"
#include "os/sys.h"
#include "session/kin.h"
#include "session/life.h"
#include "session/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

/* Limit of copied text in bytes. The file is sparse. */
static const uint64_t TEXT_BYTES_MAX = 1ULL << 30;

/* The file of text copies, allocated sequentially. */
static struct {
  int file;
  dev_t device;
  ino_t inode;
  uint64_t alias; /* 0: no mapping yet */
  uint64_t size;
  _Atomic uint64_t used;
} text;

static bool is_page_aligned(uint64_t value) { return (value & 4095) == 0; }

/* Creates the file: a descriptor, or -errno. */
static int create_file(const char *name) {
  int file = memfd_create(name, MFD_CLOEXEC | MFD_EXEC);
  if (file < 0 && errno == EINVAL) {
    file = memfd_create(name, MFD_CLOEXEC); /* before Linux 6.3 */
  }
  return file < 0 ? -errno : file;
}

/* Limit of address space for copies: the application shares the resource limits. */
static uint64_t text_limit(void) {
  uint64_t most = TEXT_BYTES_MAX, of_space = kernel_limit(RLIMIT_AS) / 16, of_file = kernel_limit(RLIMIT_FSIZE);
  most = of_space < most ? of_space : most;
  most = of_file < most ? of_file : most;
  return most & ~4095ULL;
}

static _Atomic bool is_foreign; /* since code_let_go() */

void code_start(void) {
  struct stat status;
  if (text.alias) { /* inherited from the parent, by a fork before its session began */
    own_memory_unmap((void *)text.alias, text.size);
  }
  atomic_store(&is_foreign, false);
  text.alias = 0;
  text.size = text_limit();
  text.used = 0;
  text.file = create_file("mdl-text");
  if (text.file < 0) {
    return;
  }
  fchmod(text.file, 0600); /* for those who may reopen it (agent/relatives.c) */
  if (ftruncate(text.file, (off_t)text.size) == 0 && fstat(text.file, &status) == 0) {
    void *alias = own_memory_map(place_apart(0), text.size, PROT_READ | PROT_WRITE, MAP_SHARED, text.file, 0, INHERITED);
    if (alias != MAP_FAILED) {
      madvise(alias, text.size, MADV_DONTDUMP); /* a core dump contains the text itself */
      text.alias = (uintptr_t)alias;
    }
    text.device = status.st_dev;
    text.inode = status.st_ino;
  }
}

uint64_t code_text_alias(void) { return text.alias; }

/* Reserves bytes of the file: their offset, or -ENOSPC. */
static int64_t take(uint64_t length) {
  uint64_t at = atomic_load(&text.used);
  do {
    if (length > text.size - at) {
      return -ENOSPC;
    }
  } while (!atomic_compare_exchange_weak(&text.used, &at, at + length));
  return (int64_t)at;
}

int64_t code_copy(uint64_t start, uint64_t length, uint64_t alias) {
  if (!is_page_aligned(start) || !is_page_aligned(length) || length == 0) {
    return -EINVAL;
  }
  if (!text.alias) {
    return -ENOMEM;
  }
  if (!alias) {
    int64_t at = take(length);
    if (at < 0) {
      return at;
    }
    /* Backed now: a store to the alias must not fault later. */
    if (fallocate(text.file, 0, (off_t)at, (off_t)length) < 0) {
      return -errno;
    }
    alias = text.alias + (uint64_t)at;
  }
  memcpy((void *)alias, (const void *)start, length);
  return (int64_t)alias;
}

/* If the agent shares the program's descriptors, the application may have closed this one and reused its number. */
static bool has_text_file(void) {
  struct stat status;
  return fstat(text.file, &status) == 0 && status.st_dev == text.device && status.st_ino == text.inode;
}

/*
 * A thread in the text continues in the copy at the same address. The kernel removes the old pages on all cores before the
 * new ones are accessible. So each instruction is fetched entirely from the old or from the new text, and the TLB shoot-down
 * interrupt, or the page fault that follows, serialises the core.
 */
int64_t code_put(uint64_t start, uint64_t length, int file, uint64_t offset) {
  void *mapped = mmap((void *)start, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, (off_t)offset);
  return mapped == MAP_FAILED ? -errno : 0;
}

int64_t code_show(uint64_t start, uint64_t length, uint64_t alias) {
  if (agent_is_dead()) {
    return -ECANCELED; /* the agent is dead: another thread switches all sites off, and may have stored old words to this copy */
  }
  if (!has_text_file()) {
    return -EBADF;
  }
  return code_put(start, length, text.file, alias - text.alias);
}

/* Private, so that a debugger can write breakpoints; stores through the alias remain visible. */
static int64_t map_executable(uint64_t at, uint64_t length, int file, uint64_t offset) {
  void *mapped = own_memory_map((void *)at, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, file,
                                (off_t)offset, INHERITED);
  if (mapped == MAP_FAILED) {
    return -errno;
  }
  if ((uintptr_t)mapped != at) {
    own_memory_unmap(mapped, length); /* before Linux 4.17 the address is only a hint */
    return -EEXIST;
  }
  return 0;
}

int64_t code_map(uint64_t at, uint64_t length) {
  if (!is_page_aligned(at) || !is_page_aligned(length) || length == 0) {
    return -EINVAL;
  }
  if (!text.alias) {
    return -ENOMEM;
  }
  if (!has_text_file()) {
    return -EBADF;
  }
  int64_t offset = take(length);
  if (offset < 0) {
    return offset;
  }
  gate_lock(); /* so that a child has both the mapping and the note, or neither */
  int64_t error = map_executable(at, length, text.file, (uint64_t)offset);
  if (!error) {
    kin_note(KIN_CODE, at, length, (uint64_t)offset, 0);
  }
  gate_unlock();
  if (error) {
    uint64_t end = (uint64_t)offset + length;
    atomic_compare_exchange_strong(&text.used, &end, (uint64_t)offset);
    return error;
  }
  /* Backed now: a store to the alias must not fault later. */
  if (fallocate(text.file, 0, (off_t)offset, (off_t)length) < 0) {
    return -errno;
  }
  return (int64_t)text.alias + offset;
}

/* ---- in a relative (agent/relatives.c) */

void code_tell(void) {
  kin->alias = text.alias;
  kin->alias_bytes = text.size;
}

int code_file(void) { return text.alias && has_text_file() ? text.file : -1; }

bool code_join(int file) {
  bool inherited = text.alias != 0;
  if (inherited ? text.alias != kin->alias
                : own_memory_map((void *)kin->alias, kin->alias_bytes, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0, INHERITED) != (void *)kin->alias) {
    return false;
  }
  if (!inherited) {
    madvise((void *)kin->alias, kin->alias_bytes, MADV_DONTDUMP);
  }
  text.file = -1;
  text.alias = kin->alias;
  text.size = kin->alias_bytes;
  for (uint32_t i = 0; i < kin_pieces(); i++) {
    const struct kin_piece *piece = &kin->piece[i];
    if (piece->kind == KIN_CODE && i >= kin_noted &&
        map_executable(piece->start, piece->length, file, piece->at) != 0) {
      return false; /* the address is taken */
    }
  }
  return true;
}

/* ---- in a process that is no longer trusted (agent/border.c) */

bool code_is_foreign(void) { return atomic_load_explicit(&is_foreign, memory_order_relaxed); }

/*
 * Other threads may be storing to a site, so the alias must stay mapped. The text is mapped privately: making it writable
 * again affects this process only.
 */
bool code_let_go(void) {
  if (text.alias) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap((void *)text.alias, text.size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
      return false;
    }
    madvise((void *)text.alias, text.size, MADV_DONTDUMP);
  }
  if (has_text_file()) {
    close(text.file);
  }
  text.file = -1;
  atomic_store(&is_foreign, true);
  return true;
}

int64_t code_sync_cores(void) {
  static _Atomic bool registered;
  if (!registered) {
    if (raw_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) < 0) {
      return -errno;
    }
    registered = true;
  }
  return raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) < 0 ? -errno : 0;
}

/* Compare-and-swap of the 8 bytes at `alias`. Returns their former value. */
static uint64_t exchange(uint64_t alias, uint64_t expected, uint64_t value) {
  __asm__ volatile("lock cmpxchgq %2, (%1)" : "+a"(expected) : "r"(alias), "r"(value) : "memory", "cc");
  return expected;
}

void code_replace(uint64_t alias, uint64_t mask, uint64_t value) {
  uint64_t expected, found;
  memcpy(&found, (const void *)alias, sizeof found);
  do {
    expected = found;
    found = exchange(alias, expected, (expected & ~mask) | value);
  } while (found != expected);
}

/*
 * A locked store waits for its cache line, and so do all later instructions: so lines are prefetched. Plain stores drain
 * later; the fence waits for them, because the caller reads the clock next.
 */
void code_replace_all(const uint64_t (*stores)[3], int64_t n) {
  enum { AHEAD = 16 };
  for (int64_t i = 0; i < n; i++) {
    if (i + AHEAD < n) {
      __builtin_prefetch((const void *)stores[i + AHEAD][0], 1);
    }
    uint64_t alias = stores[i][0], mask = stores[i][1], value = stores[i][2];
    if (mask == 0xFF) {
      code_store(alias, value, 1);
    } else if (mask == UINT64_MAX) {
      code_store(alias, value, 8);
    } else {
      code_replace(alias, mask, value);
    }
  }
  code_fence();
}

uint64_t code_wait_until(uint64_t tsc) {
  uint64_t now;
  do {
    now = __rdtsc(); /* no PAUSE: it takes nearly as long as the wait itself */
  } while ((int64_t)(tsc - now) > 0);
  return now;
}

/* ---- sites */

/*
 * A site has three users that may want it on: the recorder (the agent, and application threads that end leases), a client
 * (fastinst.h) and snippets; at a whole function, clients and snippets for its entry and its return. Each user keeps its
 * wish in the site's record and stores the instruction that all wishes require.
 *
 * Assumes    A1 x86-TSO: accesses before a fence are visible to other processors before accesses after it (Intel SDM
 *               vol. 3, 8.2; AMD APM vol. 2, 7.2)
 *            A2 each wish has one writer at a time: `recording` by the protocol of leases (record/lease.c), `client` and
 *               MDL_SNIPPETS by a lock (record/client.c)
 * Guarantees G1 once no thread is between steps 1 and 3, a site is on if and only if some user wants it
 * Progress   P1 no locks; step 3 repeats only if another thread has stored in between
 *
 *   a user that changes its wish                   another user
 *   1 write the wish
 *   2 store the instruction that all wishes        steps 1, 2 and 3
 *     ask for
 *   3 fence; while the instruction is not what
 *     all wishes ask for: again 2, fence
 *
 * G1: consider the last store of an instruction. Its thread then fenced and read all wishes, and the instruction matched
 * them. A wish written after that read would have been followed by another store, so this store would not be the last.
 */
bool code_is_recording(const struct mdl_site *site) { return __atomic_load_n(&site->recording, __ATOMIC_RELAXED); }

bool code_has_snippets(const struct mdl_site *site) {
  return __atomic_load_n(&site->flags, __ATOMIC_RELAXED) & MDL_SNIPPETS;
}

bool code_has_user(const struct mdl_site *site) {
  return __atomic_load_n(&site->client, __ATOMIC_RELAXED) != 0 || code_has_snippets(site);
}

bool code_is_used(const struct mdl_site *site) {
  return code_has_user(site) || (site->kind == MDL_WHOLE && code_has_user(site + 1));
}

static uint64_t wanted(const struct mdl_site *site) {
  return code_is_recording(site) || code_is_used(site) ? site->on : site->off;
}

/* Five bytes within an atomic unit are part of a word within it. */
struct five {
  uint64_t word;
  unsigned shift;
};

static const uint64_t FIVE_BYTES = 0xFFFFFFFFFF;

static struct five five_at(uint64_t alias) {
  enum { LINE = 64, WORD = 8, FIVE = 5 };
  uint64_t word = alias % WORD <= WORD - FIVE ? alias / WORD * WORD : alias;
  if (word % LINE > LINE - WORD) {
    word = word / LINE * LINE + LINE - WORD;
  }
  return (struct five){word, (unsigned)(alias - word) * 8};
}

static void store_word(uint64_t alias, uint64_t value, uint8_t size) {
  if (size == 5) {
    struct five five = five_at(alias);
    code_replace(five.word, FIVE_BYTES << five.shift, (value & FIVE_BYTES) << five.shift);
  } else {
    code_store(alias, value, size);
  }
}

void code_follow(const struct mdl_site *site) { store_word(site->store, wanted(site), site->size); }

void code_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static bool is_as_wanted(const struct mdl_site *site) {
  switch (site->size) {
    case 1: return __atomic_load_n((const uint8_t *)site->store, __ATOMIC_RELAXED) == (uint8_t)wanted(site);
    case 2: return __atomic_load_n((const uint16_t *)site->store, __ATOMIC_RELAXED) == (uint16_t)wanted(site);
    case 4: return __atomic_load_n((const uint32_t *)site->store, __ATOMIC_RELAXED) == (uint32_t)wanted(site);
    default: {
      struct five five = five_at(site->store);
      return ((*(const volatile uint64_t *)five.word ^ wanted(site) << five.shift) & FIVE_BYTES << five.shift) == 0;
    }
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

/* Clears the wishes of all sites. */
void code_switch_all_off(void) {
  struct mdl_header *header = session;
  if (!header || code_is_foreign()) {
    return;
  }
  uint32_t count = __atomic_load_n(&header->site_count, __ATOMIC_ACQUIRE);
  struct mdl_site *sites = (struct mdl_site *)header->sites;
  for (uint32_t i = 0; sites && i < count; i++) {
    /* Read the place last: the agent writes it first when it moves the site. So a new word never goes to the old place,
     * which a forked process may execute; and an old word in the new place is never shown (code_show). */
    uint64_t off = __atomic_load_n(&sites[i].off, __ATOMIC_ACQUIRE);
    uint8_t size = __atomic_load_n(&sites[i].size, __ATOMIC_ACQUIRE);
    uint64_t store = __atomic_load_n(&sites[i].store, __ATOMIC_ACQUIRE);
    if (store) {
      __atomic_store_n(&sites[i].recording, 0, __ATOMIC_RELAXED);
      __atomic_store_n(&sites[i].client, 0, __ATOMIC_RELAXED);
      __atomic_fetch_and(&sites[i].flags, (uint8_t)~MDL_SNIPPETS, __ATOMIC_RELAXED);
      store_word(store, off, size);
    }
  }
}
