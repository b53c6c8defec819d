#include "agent/call_paths.h"

#include "os/own_memory.h"
#include "os/self.h"
#include "os/sys.h"
#include "session/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

enum {
  FRAME_CHUNKS = MDL_PC_FRAMES / MDL_PC_CHUNK,
  NODE_CHUNKS = MDL_PC_NODES / MDL_PC_CHUNK,
  NODE_SLOTS = 2 * MDL_PC_NODES, /* powers of two */
  PLACE_SLOTS = 1 << 16,
  PLACES_MAX = PLACE_SLOTS / 4 * 3,
  LOG_CHUNKS = MDL_PC_LOG / MDL_PC_CHUNK,
  THREAD_CHUNKS = MDL_PC_THREADS / MDL_PC_CHUNK,
  THREAD_SLOTS = 2 * MDL_PC_THREADS,
  OWED_SLOTS = 1 << 13,
  OWED_MAX = OWED_SLOTS / 4 * 3,
};

struct place {
  uint64_t address; /* 0: free */
  uint32_t count, frames[FRAMES_OF_ADDRESS];
};

struct node {
  uint32_t number; /* 0: free */
  uint32_t parent, frame;
};

struct thread {
  int32_t tid; /* 0: free */
  uint32_t number;
  uint64_t samples;
};

/* A thread's samples in a frame. */
struct owed {
  uint64_t key;    /* 0: free */
  int64_t samples; /* counted, and not yet on a path */
  uint32_t last;   /* node of the path that was last added, 0 for none */
};

/* One mapping; forked children do not inherit it. */
static struct paths {
  struct mdl_pc_samples *table;
  uint64_t opened_nanos; /* CLOCK_MONOTONIC, by which the kernel tells when a sample was taken */
  uint64_t chance;       /* state of a generator of random bits, not 0 */
  uint32_t frames, nodes, places, threads, logged, thinned;
  uint32_t owing; /* of the next table's rows */
  struct owed owed[OWED_SLOTS];
  struct mdl_pc_frame *frame[FRAME_CHUNKS];
  struct mdl_pc_node *node[NODE_CHUNKS];
  struct mdl_pc_sample *log[LOG_CHUNKS];
  struct mdl_pc_thread *thread[THREAD_CHUNKS];
  struct thread tid[THREAD_SLOTS];
  struct place place[PLACE_SLOTS];
  struct node slot[NODE_SLOTS];
} *paths;
static pid_t owner;

static uint32_t hash(uint64_t key) { return (uint32_t)(key * 0x9E3779B97F4A7C15 >> 32); }

/* A row in one of `chunks`, allocated on demand; NULL if out of memory. */
static void *new_row(uint32_t number, void **chunks, uint64_t *published, size_t size) {
  void **chunk = &chunks[number / MDL_PC_CHUNK];
  if (!*chunk) {
    uint64_t made = session_allocate(MDL_PC_CHUNK * size);
    *chunk = (void *)made;
    published[number / MDL_PC_CHUNK] = made;
  }
  return *chunk ? (char *)*chunk + number % MDL_PC_CHUNK * size : NULL;
}

static struct mdl_pc_frame *frame_row(uint32_t number) { return &paths->frame[number / MDL_PC_CHUNK][number % MDL_PC_CHUNK]; }

static struct mdl_pc_node *node_row(uint32_t number) { return &paths->node[number / MDL_PC_CHUNK][number % MDL_PC_CHUNK]; }

int64_t call_paths_frame(const struct mdl_pc_frame *frame) {
  uint32_t number = paths->frames;
  struct mdl_pc_frame *row =
      number < MDL_PC_FRAMES ? new_row(number, (void **)paths->frame, paths->table->frames, sizeof *row) : NULL;
  if (!row) {
    return FRAME_ELSEWHERE;
  }
  *row = *frame;
  __atomic_store_n(&paths->table->frame_count, ++paths->frames, __ATOMIC_RELEASE);
  return number;
}

/* 0 where there is no room. */
static uint32_t new_node(uint32_t parent, uint32_t frame) {
  uint32_t number = paths->nodes;
  struct mdl_pc_node *row = number < MDL_PC_NODES ? new_row(number, (void **)paths->node, paths->table->nodes, sizeof *row) : NULL;
  if (!row) {
    return 0;
  }
  *row = (struct mdl_pc_node){.parent = parent, .frame = frame};
  __atomic_store_n(&paths->table->node_count, ++paths->nodes, __ATOMIC_RELEASE);
  return number;
}

/* ---- threads */

static struct mdl_pc_thread *thread_row(uint32_t number) {
  return new_row(number, (void **)paths->thread, paths->table->threads, sizeof(struct mdl_pc_thread));
}

/* False where there is no room. */
static bool add_thread(int32_t tid, int32_t pid) {
  struct mdl_pc_thread *row = paths->threads < MDL_PC_THREADS ? thread_row(paths->threads) : NULL;
  if (row) {
    *row = (struct mdl_pc_thread){.tid = tid, .pid = pid};
    __atomic_store_n(&paths->table->thread_count, ++paths->threads, __ATOMIC_RELEASE);
  }
  return row != NULL;
}

/* Called at sample 1, 2, 4, 8 ...: threads name themselves after they have started. The row keeps the name when the thread has ended. */
static void read_name(struct mdl_pc_thread *row) {
  char path[64], name[sizeof row->name + 1];
  snprintf(path, sizeof path, "/proc/%d/task/%d/comm", row->pid, row->tid);
  read_text(path, name, sizeof name);
  name[strcspn(name, "\n")] = 0;
  if (*name) {
    memset(row->name, 0, sizeof row->name);
    memcpy(row->name, name, strnlen(name, sizeof row->name - 1));
  }
}

/* The number of a thread, 0 where there is no room for it. */
static uint32_t thread_of(int32_t tid, int32_t pid, uint64_t weight) {
  struct thread *thread = NULL;
  for (uint32_t i = hash((uint64_t)(uint32_t)tid); !thread; i++) {
    struct thread *at = &paths->tid[i & (THREAD_SLOTS - 1)];
    if (at->tid == tid) {
      thread = at;
    } else if (at->tid == 0) {
      if (!add_thread(tid, pid)) {
        thread_row(0)->samples += weight;
        return 0;
      }
      *at = (struct thread){.tid = tid, .number = paths->threads - 1};
      thread = at;
    }
  }
  struct mdl_pc_thread *row = thread_row(thread->number);
  row->samples += weight;
  thread->samples++;
  if ((thread->samples & (thread->samples - 1)) == 0) {
    read_name(row);
  }
  return thread->number;
}

/* ---- the log */

/* xorshift64 (Marsaglia, 2003). */
static uint64_t random_bits(void) {
  paths->chance ^= paths->chance << 13;
  paths->chance ^= paths->chance >> 7;
  return paths->chance ^= paths->chance << 17;
}

static struct mdl_pc_sample *log_row(uint32_t number) {
  return new_row(number, (void **)paths->log, paths->table->log, sizeof(struct mdl_pc_sample));
}

/* Drops half of the log. Readers discard what they have read if `log_version` is odd or has changed. */
static void thin_out(void) {
  struct mdl_pc_samples *table = paths->table;
  uint32_t kept = 0;
  __atomic_store_n(&table->log_version, table->log_version + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t i = 0; i < paths->logged; i++) {
    if (random_bits() & 1) {
      *log_row(kept++) = *log_row(i);
    }
  }
  paths->logged = kept;
  __atomic_store_n(&table->log_count, kept, __ATOMIC_RELAXED);
  table->thinned = ++paths->thinned;
  __atomic_store_n(&table->log_version, table->log_version + 1, __ATOMIC_RELEASE);
}

static void log_sample(const struct sample_facts *facts, uint32_t node, uint64_t weight) {
  uint32_t thread = thread_of(facts->tid, facts->pid, weight);
  if (random_bits() & ((1u << paths->thinned) - 1)) {
    return;
  }
  struct mdl_pc_sample *row = log_row(paths->logged);
  if (!row) {
    return;
  }
  uint64_t nanos = facts->nanos > paths->opened_nanos ? facts->nanos - paths->opened_nanos : 0;
  *row = (struct mdl_pc_sample){
      .address = facts->address,
      .millis = (uint32_t)(nanos / 1000000),
      .node = node,
      .thread = thread,
      .weight = (uint32_t)weight,
  };
  __atomic_store_n(&paths->table->log_count, ++paths->logged, __ATOMIC_RELEASE);
  if (paths->logged == MDL_PC_LOG) {
    thin_out();
  }
}

bool call_paths_open(uint64_t period, uint64_t event) {
  if (owner == process_pid && paths) {
    return true;
  }
  void *made = own_memory_map(NULL, sizeof *paths, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, STAYS);
  struct mdl_pc_samples *table = (struct mdl_pc_samples *)session_allocate(sizeof *table);
  if (made == MAP_FAILED || !table) {
    return false;
  }
  paths = made;
  owner = process_pid;
  paths->table = table;
  table->period_nanos = period;
  table->event = event;
  table->opened_tsc = __rdtsc();
  paths->opened_nanos = clock_nanos(CLOCK_MONOTONIC);
  paths->chance = table->opened_tsc | 1;
  static const int32_t always[] = {
      [FRAME_ELSEWHERE] = MDL_PC_ELSEWHERE, [FRAME_PROBES] = MDL_PC_PROBES, [FRAME_CUT] = MDL_PC_CUT};
  for (uint32_t i = 0; i < sizeof always / sizeof *always; i++) {
    if (call_paths_frame(&(struct mdl_pc_frame){.function = always[i]}) != i) {
      return false;
    }
  }
  if (new_node(0, FRAME_ELSEWHERE) != 0 || paths->nodes != 1 || !add_thread(0, 0)) {
    return false;
  }
  __atomic_store_n(&session->pc_samples, (uintptr_t)table, __ATOMIC_RELEASE);
  return true;
}

/* ---- addresses */

static struct place *place_of(uint64_t address) {
  for (uint32_t i = hash(address);; i++) {
    struct place *place = &paths->place[i & (PLACE_SLOTS - 1)];
    if (place->address == address || place->address == 0) {
      return place;
    }
  }
}

size_t call_paths_frames_at(uint64_t address, uint32_t frames[FRAMES_OF_ADDRESS]) {
  const struct place *place = place_of(address);
  if (!place->address) {
    return 0;
  }
  memcpy(frames, place->frames, sizeof place->frames);
  return place->count;
}

void call_paths_forget(void) {
  if (paths) {
    memset(paths->place, 0, sizeof paths->place);
    paths->places = 0;
  }
}

static uint32_t known(int64_t frame) { return frame < 0 || frame >= paths->frames ? FRAME_ELSEWHERE : (uint32_t)frame; }

void call_paths_place(uint64_t address, int64_t frame, int64_t outer) {
  if (paths->places == PLACES_MAX) {
    call_paths_forget();
  }
  struct place *place = place_of(address);
  paths->places += place->address == 0;
  *place = (struct place){.address = address, .count = outer < 0 ? 1 : 2, .frames = {known(frame), known(outer)}};
}

/* ---- paths */

/* 0 where there is no room. */
static uint32_t child(uint32_t parent, uint32_t frame) {
  for (uint32_t i = hash((uint64_t)parent << 32 | frame);; i++) {
    struct node *node = &paths->slot[i & (NODE_SLOTS - 1)];
    if (node->number == 0) {
      uint32_t made = new_node(parent, frame);
      if (made) {
        *node = (struct node){.number = made, .parent = parent, .frame = frame};
      }
      return made;
    }
    if (node->parent == parent && node->frame == frame) {
      return node->number;
    }
  }
}

uint32_t call_paths_node(const uint32_t *frames, size_t count) {
  uint32_t node = 0;
  for (size_t i = count; i > 0; i--) {
    node = child(node, frames[i - 1]);
    if (node == 0) {
      break;
    }
  }
  return node;
}

void call_paths_add_wait(uint32_t node, uint64_t nanos) { node_row(node)->waits += nanos; }

static void add_to(uint32_t node, uint64_t weight) {
  *(node ? &node_row(node)->samples : &paths->table->left_out) += weight;
}

static void count_in(uint32_t frame, uint64_t weight) {
  paths->table->samples += weight;
  paths->table->squares += weight * weight;
  frame_row(frame)->samples += weight;
}

/* Returns the path's node, 0 if there is no room for it. */
static uint32_t add_path(const uint32_t *frames, size_t count, const struct sample_facts *facts, uint64_t weight) {
  uint32_t node = call_paths_node(frames, count);
  add_to(node, weight);
  log_sample(facts, node, weight);
  return node;
}

void call_paths_add(const uint32_t *frames, size_t count, const struct sample_facts *facts, uint64_t weight) {
  count_in(frames[0], weight);
  add_path(frames, count, facts, weight);
}

static struct owed *owed_of(int32_t tid, uint32_t frame) {
  uint64_t key = (uint64_t)(uint32_t)tid << 32 | frame;
  for (uint32_t i = hash(key);; i++) {
    struct owed *owed = &paths->owed[i & (OWED_SLOTS - 1)];
    if (owed->key == key) {
      return owed;
    }
    if (owed->key == 0) {
      if (paths->owing < OWED_MAX) {
        paths->owing++;
        owed->key = key;
        return owed;
      }
      call_paths_settle(); /* most of the threads have ended */
      memset(paths->owed, 0, sizeof paths->owed);
      paths->owing = 0;
      i = hash(key) - 1;
    }
  }
}

void call_paths_count_of(int32_t tid, uint32_t frame, uint64_t weight) {
  count_in(frame, weight);
  owed_of(tid, frame)->samples += (int64_t)weight;
}

void call_paths_add_path_of(const uint32_t *frames, size_t count, const struct sample_facts *facts, uint64_t weight) {
  uint32_t node = add_path(frames, count, facts, weight);
  struct owed *owed = owed_of(facts->tid, frames[0]);
  owed->samples -= (int64_t)weight;
  owed->last = node;
}

void call_paths_settle(void) {
  for (uint32_t i = 0; i < OWED_SLOTS && paths->owing > 0; i++) {
    struct owed *owed = &paths->owed[i];
    if (owed->samples > 0) {
      uint32_t frame = (uint32_t)owed->key;
      uint32_t node = owed->last ? owed->last : call_paths_node(&frame, 1);
      add_to(node, (uint64_t)owed->samples);
      paths->table->without_stack += (uint64_t)owed->samples;
      owed->samples = 0;
    }
  }
}

void call_paths_add_lost(uint64_t samples) { paths->table->lost += samples; }

void call_paths_add_cut(uint64_t weight) { paths->table->cut += weight; }

void call_paths_add_without_table(uint64_t weight) { paths->table->no_table += weight; }
