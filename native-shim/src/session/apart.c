#include "session/apart.h"

#include "os/own_memory.h"
#include "os/self.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/file.h"
#include "session/owner.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct {
  struct apart *head;
  uint64_t bytes;
  struct mdl_thread *spare;
  bool entered;
} apart;

void apart_name(char *name, uint32_t pid) { snprintf(name, APART_NAME, "%s-%u.apart", session->id, pid); }

static bool is_own(const struct mdl_thread *block) { return block->process == (uintptr_t)family_self; }

static bool is_threads(const struct mdl_thread *block) { return is_own(block) && !owner_is_gone(block->owner); }

/* One for each block of its threads, and one for the spare block. */
static uint32_t count_tables(void) {
  uint32_t tables = 1;
  for (struct mdl_thread *block = block_newest(); block; block = block_after(block)) {
    tables += is_threads(block);
  }
  return tables < APART_TABLES ? tables : APART_TABLES;
}

static void number_blocks(uint32_t tables) {
  uint32_t number = 0;
  for (struct mdl_thread *block = block_newest(); block && number < tables; block = block_after(block)) {
    if (is_threads(block)) {
      block->apart = ++number;
    }
  }
}

static void forget_numbers(void) {
  for (struct mdl_thread *block = block_newest(); block; block = block_after(block)) {
    if (is_own(block)) {
      block->apart = 0;
    }
  }
}

/* Maps a file: its inode, or 0. */
static uint64_t map(uint32_t tables) {
  char name[APART_NAME];
  struct stat status;
  uint64_t bytes = APART_ROOM + tables * apart_table_bytes(session->function_capacity);
  apart.bytes = (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  apart_name(name, (uint32_t)process_pid);
  int file = memory_file_create(name, apart.bytes);
  if (file < 0) {
    return 0;
  }
  void *memory = fstat(file, &status) < 0 ? MAP_FAILED
                                          : own_memory_map(NULL, apart.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0, INHERITED);
  close(file);
  if (memory == MAP_FAILED) {
    memory_file_remove(name);
    return 0;
  }
  apart.head = memory;
  apart.head->base = (uintptr_t)memory;
  apart.head->next = (sizeof *apart.head + 63) & ~63ULL;
  owner_create(apart.head->owner);
  if (gettid() == process_pid) {
    owner_take(apart.head->owner);
  }
  return status.st_ino;
}

static void give_spare_back(void) {
  if (apart.spare) {
    blocks_give_back(apart.spare);
    apart.spare = NULL;
  }
}

static void take_spare(void) {
  struct mdl_thread *spare = blocks_take(family_self);
  if (spare) {
    spare->tid = 0;
    spare->pid = (uint32_t)process_pid;
    spare->first = spare->head;
    __atomic_store_n(&spare->state, MDL_THREAD_LIVE, __ATOMIC_RELEASE);
  }
  apart.spare = spare;
}

bool apart_prepare(void) {
  if (!session || !family_self || family_has_agent() || family_agent_is_gone() || !session->function_capacity) {
    return false;
  }
  uint32_t tables = count_tables();
  uint64_t inode = map(tables);
  if (!inode) {
    return false;
  }
  take_spare();
  number_blocks(tables);
  __atomic_store_n(&family_self->apart, inode, __ATOMIC_RELEASE);
  __atomic_fetch_add(&session->apart_files, 1, __ATOMIC_RELEASE);
  return true;
}

void apart_abandon(void) {
  char name[APART_NAME];
  if (!apart.head) {
    return;
  }
  __atomic_store_n(&family_self->apart, 0, __ATOMIC_RELEASE);
  forget_numbers();
  give_spare_back();
  if (owner_is_self(apart.head->owner)) {
    owner_release(apart.head->owner);
  }
  own_memory_unmap(apart.head, apart.bytes);
  apart.head = NULL;
  apart_name(name, (uint32_t)process_pid);
  memory_file_remove(name);
}

void apart_enter(void) {
  uint64_t table_bytes = apart_table_bytes(session->function_capacity);
  apart.entered = true;
  for (struct mdl_thread *block = block_newest(); block; block = block_after(block)) {
    if (is_own(block) && block->apart) {
      uint64_t table = (uintptr_t)apart.head + APART_ROOM + (block->apart - 1) * table_bytes;
      __atomic_store_n(&block->calls, table, __ATOMIC_RELEASE);
      if (block->rows) {
        __atomic_store_n(&block->rows, table + table_bytes / 2, __ATOMIC_RELEASE);
      }
    }
  }
  give_spare_back();
}

uint64_t apart_allocate(uint64_t bytes) {
  if (!apart.entered) {
    return session_allocate(bytes);
  }
  uint64_t taken = (bytes + 63) & ~63ULL;
  uint64_t next = atomic_load(&apart.head->next);
  do {
    if (next > APART_ROOM - taken) {
      return 0;
    }
  } while (!atomic_compare_exchange_weak(&apart.head->next, &next, next + taken));
  return (uintptr_t)apart.head + next;
}

uint64_t apart_allocate_once(uint64_t *slot, uint64_t bytes) {
  uint64_t at = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!at) {
    uint64_t fresh = apart_allocate(bytes);
    if (!fresh || __atomic_compare_exchange_n(slot, &at, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      return fresh;
    }
  }
  return at;
}

void apart_refuses_thread(void) {
  if (apart.entered) {
    atomic_fetch_add(&apart.head->threads_refused, 1);
  }
}

void apart_forks(void) {
  if (apart.entered) {
    atomic_fetch_add(&apart.head->forks, 1);
  }
}

void apart_refuses_call(void) {
  if (apart.entered) {
    atomic_fetch_add(&apart.head->calls_refused, 1);
  }
}

void apart_leader_ends(void) {
  if (apart.entered && owner_is_self(apart.head->owner)) {
    owner_release(apart.head->owner);
  }
}

/* Its copies of its parent's blocks point to the file, so private memory takes the place of the mapping. */
void apart_forked(void) {
  if (apart.entered) {
    own_memory_map(apart.head, apart.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0,
                   INHERITED);
    apart_forget();
  }
}

void apart_forget(void) { apart.entered = false; }
