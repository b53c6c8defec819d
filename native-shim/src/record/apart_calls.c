/*
 * Assumes    nothing about a file's contents: they may be anything, and may change while they are read
 * Guarantees G1 each word is copied once; the copy is used as a counter, or as an offset that is checked against the copy's bounds
 *            G2 the calls added to a block, timed or not, are at most one per tick since the last reading, and the time at most
 *               LEVELS_MAX times these ticks
 *            G3 the rows of one process take at most APART_ROOM bytes of session memory
 *            G4 the work of one reading is bounded by the file's size, which the agent computes itself
 *
 * Files are read and not mapped. A process that has a file mapped can remove its pages (MADV_REMOVE), and a read of a removed page
 * through a mapping would raise SIGBUS where tmpfs is full.
 *
 * The agent keeps a copy of each file as of the last reading. Counters only grow, so what is new is the difference.
 */
#include "record/apart_calls.h"

#include "os/own_memory.h"
#include "os/self.h"
#include "os/sys.h"
#include "record/rows.h"
#include "record/tier.h"
#include "session/apart.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/file.h"
#include "session/owner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

enum { LEVELS_MAX = 256 /* recursion: nested calls of a function all count their ticks */ };
static const uint64_t SOMETIMES_NANOS = 200000000u;

/* A process's file. */
struct view {
  struct view *next;
  struct mdl_process *process;
  uint64_t inode, bytes; /* of the file; bytes of each of the copies behind */
  uint64_t rows_left;    /* bytes of session memory that its rows may still take */
  uint64_t calls_taken, rows_taken; /* tsc of the last reading */
  uint32_t threads_refused, forks;
  uint64_t calls_refused;
};

enum { VIEW_BYTES = 4096 };
static struct view *views; /* forked children do not have these mappings */
static pid_t owner;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static char *seen(struct view *view) { return (char *)view + VIEW_BYTES; }
static char *now(struct view *view) { return (char *)view + VIEW_BYTES + view->bytes; }

static uint64_t mapped_bytes(const struct view *view) { return VIEW_BYTES + 2 * view->bytes; }

static struct view *view_of(struct mdl_process *process, uint64_t inode, uint64_t bytes) {
  for (struct view *view = views; view; view = view->next) {
    if (view->process == process && view->inode == inode) {
      return view;
    }
  }
  struct view *view = own_memory_map(NULL, VIEW_BYTES + 2 * bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, STAYS);
  if (view == MAP_FAILED) {
    return NULL;
  }
  madvise(view, VIEW_BYTES + 2 * bytes, MADV_DONTFORK);
  uint64_t begin = session->start_tsc;
  *view = (struct view){.next = views, .process = process, .inode = inode, .bytes = bytes, .rows_left = APART_ROOM,
                        .calls_taken = begin, .rows_taken = begin};
  views = view;
  return view;
}

static void close_view(struct view *view) {
  struct view **link = &views;
  while (*link && *link != view) {
    link = &(*link)->next;
  }
  if (*link) {
    *link = view->next;
    own_memory_unmap(view, mapped_bytes(view));
  }
}

/* ---- the file */

/* Bytes behind the file's end are 0. */
static void read_part(int file, char *copy, uint64_t at, uint64_t bytes) {
  uint64_t filled = 0;
  for (ssize_t got = 1; got > 0 && filled < bytes; filled += got > 0 ? (uint64_t)got : 0) {
    got = pread(file, copy + at + filled, bytes - filled, (off_t)(at + filled));
  }
  memset(copy + at + filled, 0, bytes - filled);
}

/* Reads the head and the used part of the room; returns the size of both. */
static uint64_t read_room(int file, char *copy) {
  read_part(file, copy, 0, sizeof(struct apart));
  uint64_t next = ((const struct apart *)copy)->next;
  uint64_t used = next < APART_ROOM ? next : APART_ROOM;
  if (used > sizeof(struct apart)) {
    read_part(file, copy, sizeof(struct apart), used - sizeof(struct apart));
  }
  return used;
}

static int open_file(const struct view *view) {
  char name[APART_NAME];
  struct stat status;
  apart_name(name, view->process->pid);
  int file = memory_file_open(name);
  if (file < 0) {
    return -1;
  }
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_ino == view->inode) {
    return file;
  }
  close(file);
  return -1;
}

/* ---- what has grown */

/* The growth of a counter, capped by the rest of the limit for all counters. */
static uint64_t grown(const uint64_t *word, const uint64_t *before, uint64_t *left) {
  uint64_t more = *word - *before;
  if (more > INT64_MAX) {
    return 0; /* the counter has decreased */
  }
  more = more < *left ? more : *left;
  *left -= more;
  return more;
}

static void add_to(uint64_t *counter, uint64_t amount) {
  if (amount) {
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
  }
}

static void take_calls(const struct mdl_thread *block, const uint64_t *calls, const uint64_t *before, uint64_t ticks) {
  uint64_t left = ticks; /* a call takes one tick or more */
  uint64_t *sums = (uint64_t *)block->calls;
  uint32_t count = __atomic_load_n(&session->function_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    if (calls[i] != before[i]) {
      add_to(&sums[i], grown(&calls[i], &before[i], &left));
    }
  }
}

/* Limits for one reading of a file's rows. */
struct reading {
  struct view *view;
  uint64_t claimed; /* bytes of pieces so far: pieces of an honest file do not overlap */
  uint64_t calls, time; /* the rest of the limits for counts and ticks */
};

/* Converts an address in the process to an offset in the copies; 0 if it is out of bounds. */
static uint64_t piece(struct reading *reading, uint64_t address, uint64_t bytes) {
  uint64_t offset = address - ((const struct apart *)now(reading->view))->base;
  reading->claimed += bytes;
  bool fits = offset >= sizeof(struct apart) && offset <= APART_ROOM - bytes && offset % sizeof(uint64_t) == 0;
  return address && fits && reading->claimed <= APART_ROOM ? offset : 0;
}

/* Accounts for session memory unless the piece is there already; false beyond the limit. */
static bool may_take(struct view *view, bool is_there, uint64_t bytes) {
  if (!is_there && view->rows_left < bytes) {
    return false;
  }
  view->rows_left -= is_there ? 0 : bytes;
  return true;
}

static void take_chunk(struct reading *reading, struct mdl_row *sums, uint32_t number, uint64_t address) {
  enum { BYTES = MDL_CHUNK_SLOTS * sizeof(uint64_t) };
  uint64_t at = piece(reading, address, BYTES);
  uint64_t *into = at && may_take(reading->view, sums->chunks[number], BYTES) ? record_chunk(sums, number) : NULL;
  const uint64_t *slots = (const uint64_t *)(now(reading->view) + at), *before = (const uint64_t *)(seen(reading->view) + at);
  for (uint32_t i = 0; into && i < MDL_CHUNK_SLOTS; i++) {
    if (slots[i] != before[i]) {
      add_to(&into[i], grown(&slots[i], &before[i], &reading->calls));
    }
  }
}

/* Calls cannot have taken longer than `ticks`. */
static void take_extremes(const struct mdl_row *row, struct mdl_row *sums, uint64_t ticks) {
  if (row->min <= row->max && row->max <= ticks) {
    sums->min = row->min < sums->min ? row->min : sums->min;
    sums->max = row->max > sums->max ? row->max : sums->max;
  }
  if (row->weight > sums->weight && row->weight <= TIER_WEIGHT_MAX) {
    sums->weight = row->weight;
  }
}

static void take_row(struct reading *reading, struct mdl_thread *block, uint32_t function, uint64_t address) {
  const struct mdl_function *functions = (const struct mdl_function *)session->functions;
  uint64_t at = piece(reading, address, sizeof(struct mdl_row));
  bool is_there = ((const uint64_t *)block->rows)[function];
  struct mdl_row *sums =
      at && may_take(reading->view, is_there, sizeof(struct mdl_row)) ? record_row(block, &functions[function]) : NULL;
  const struct mdl_row *row = (const struct mdl_row *)(now(reading->view) + at);
  const struct mdl_row *before = (const struct mdl_row *)(seen(reading->view) + at);
  if (!sums) {
    add_to(&block->refused, at ? grown(&row->count, &before->count, &reading->calls) : 0);
    return;
  }
  if (memcmp(row, before, sizeof *row) == 0) {
    return; /* no new calls, so no new slots */
  }
  add_to(&sums->count, grown(&row->count, &before->count, &reading->calls));
  add_to(&sums->samples, grown(&row->samples, &before->samples, &reading->calls));
  add_to(&sums->total, grown(&row->total, &before->total, &reading->time));
  add_to(&sums->self, grown(&row->self, &before->self, &reading->time));
  add_to(&sums->nested, grown(&row->nested, &before->nested, &reading->time));
  take_extremes(row, sums, __rdtsc() - session->start_tsc);
  for (uint32_t i = 0; i < MDL_ROW_CHUNKS; i++) {
    if (row->chunks[i]) {
      take_chunk(reading, sums, i, row->chunks[i]);
    }
  }
}

static void take_rows(struct reading *reading, struct mdl_thread *block, const uint64_t *rows, uint64_t ticks) {
  uint32_t count = __atomic_load_n(&session->function_count, __ATOMIC_ACQUIRE);
  reading->calls = 4 * (ticks + TIER_WEIGHT_MAX); /* each call is in count, samples and one slot */
  reading->time = LEVELS_MAX * ticks;
  for (uint32_t i = 0; block->rows && i < count && reading->claimed <= APART_ROOM; i++) {
    if (rows[i]) {
      take_row(reading, block, i, rows[i]);
    }
  }
}

static void note_losses(struct view *view) {
  enum { MOST = 1000 };
  const struct apart *head = (const struct apart *)now(view);
  uint32_t threads = head->threads_refused - view->threads_refused, forks = head->forks - view->forks;
  view->threads_refused += threads;
  view->forks += forks;
  __atomic_fetch_add(&session->threads_refused, threads < MOST ? threads : MOST, __ATOMIC_RELAXED);
  __atomic_fetch_add(&session->processes_apart, forks < MOST ? forks : MOST, __ATOMIC_RELAXED);
}

/* To the process's first block. */
static void note_refused_calls(struct view *view, struct mdl_thread *block, uint64_t ticks) {
  uint64_t refused = ((const struct apart *)now(view))->calls_refused;
  add_to(&block->refused, grown(&refused, &view->calls_refused, &ticks));
  view->calls_refused = refused;
}

/* ---- all of it */

static void take(struct view *view, int file, bool durations) {
  uint64_t table_bytes = apart_table_bytes(session->function_capacity), tsc = __rdtsc();
  struct reading reading = {.view = view};
  uint64_t used = durations ? read_room(file, now(view)) : 0;
  if (durations) {
    note_losses(view);
  }
  for (struct mdl_thread *block = block_newest(); block; block = block_after(block)) {
    uint64_t at = APART_ROOM + (uint64_t)(block->apart - 1) * table_bytes;
    if (block->process != (uintptr_t)view->process || !block->apart || at + table_bytes > view->bytes) {
      continue;
    }
    const uint64_t *calls = (const uint64_t *)(now(view) + at), *rows = (const uint64_t *)(now(view) + at + table_bytes / 2);
    read_part(file, now(view), at, durations ? table_bytes : table_bytes / 2);
    take_calls(block, calls, (const uint64_t *)(seen(view) + at), tsc - view->calls_taken);
    if (durations) {
      take_rows(&reading, block, rows, tsc - view->rows_taken);
      note_refused_calls(view, block, tsc - view->rows_taken);
    }
    memcpy(seen(view) + at, calls, table_bytes / 2);
  }
  view->calls_taken = tsc;
  if (durations) {
    view->rows_taken = tsc;
    memcpy(seen(view), now(view), used);
  }
}

/* A process may lie about its end: then its blocks are handed on, and its file is not read again. */
static bool is_gone(const struct mdl_process *process, int file) {
  struct apart head;
  read_part(file, (char *)&head, 0, sizeof head);
  bool is_marked = *(uint32_t *)head.owner != 0 && owner_is_gone(head.owner);
  return is_marked || (!(process->flags & MDL_ELSEWHERE) && kill((pid_t)process->pid, 0) < 0 && errno == ESRCH);
}

static uint64_t bytes_of(const struct mdl_process *process) {
  uint32_t tables = 0;
  for (const struct mdl_thread *block = block_newest(); block; block = block_after(block)) {
    if (block->process == (uintptr_t)process && block->apart > tables) {
      tables = block->apart;
    }
  }
  uint64_t bytes = APART_ROOM + tables * apart_table_bytes(session->function_capacity);
  return tables <= APART_TABLES ? (bytes + 4095) & ~4095ULL : 0;
}

static void finish(struct view *view) {
  char name[APART_NAME];
  apart_name(name, view->process->pid);
  memory_file_remove(name);
  family_is_gone(view->process);
  close_view(view);
}

static void take_from(struct mdl_process *process, uint64_t inode, bool durations) {
  uint64_t bytes = bytes_of(process);
  struct view *view = bytes ? view_of(process, inode, bytes) : NULL;
  int file = view ? open_file(view) : -1;
  if (file < 0) {
    return;
  }
  bool gone = durations && is_gone(process, file);
  take(view, file, durations);
  close(file);
  if (gone) {
    finish(view);
  }
}

static void take_all(bool durations) {
  if (owner != process_pid) {
    views = NULL;
    owner = process_pid;
  }
  for (struct mdl_process *process = family_newest(); process; process = family_before(process)) {
    uint64_t inode = __atomic_load_n(&process->apart, __ATOMIC_ACQUIRE);
    if (inode && process != family_self) {
      take_from(process, inode, durations);
    }
  }
}

static bool are_there(void) {
  return session && __atomic_load_n(&session->apart_files, __ATOMIC_ACQUIRE) && family_has_agent();
}

void apart_calls_take(bool durations) {
  if (are_there() && !atomic_flag_test_and_set(&busy)) {
    take_all(durations);
    atomic_flag_clear(&busy);
  }
}

void apart_calls_take_sometimes(void) {
  static uint64_t last;
  uint64_t time = clock_nanos(CLOCK_MONOTONIC);
  if (time - last >= SOMETIMES_NANOS) {
    last = time;
    apart_calls_take(true);
  }
}

/* Keeps `busy`: later readings are skipped. */
void apart_calls_end(void) {
  enum { TRIES = 10000 };
  int tries = 0;
  while (tries < TRIES && are_there() && atomic_flag_test_and_set(&busy)) {
    sched_yield();
    tries++;
  }
  if (tries == TRIES || !are_there()) {
    return;
  }
  take_all(true);
  for (struct mdl_process *process = family_newest(); process; process = family_before(process)) {
    if (process->apart) {
      char name[APART_NAME];
      apart_name(name, process->pid);
      memory_file_remove(name);
    }
  }
}
