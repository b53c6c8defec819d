#include "agent/call_paths.h"

#include "os/own_memory.h"
#include "os/self.h"
#include "session/memory.h"

#include <string.h>
#include <sys/mman.h>

enum {
  FRAME_CHUNKS = MDL_PC_FRAMES / MDL_PC_CHUNK,
  NODE_CHUNKS = MDL_PC_NODES / MDL_PC_CHUNK,
  NODE_SLOTS = 2 * MDL_PC_NODES, /* powers of two */
  PLACE_SLOTS = 1 << 16,
  PLACES_MAX = PLACE_SLOTS / 4 * 3,
};

struct place {
  uint64_t address; /* 0: free */
  uint32_t count, frames[FRAMES_OF_ADDRESS];
};

struct node {
  uint32_t number; /* 0: free */
  uint32_t parent, frame;
};

/* One mapping; forked children do not inherit it. */
static struct paths {
  struct mdl_pc_samples *table;
  uint32_t frames, nodes, places;
  struct mdl_pc_frame *frame[FRAME_CHUNKS];
  struct mdl_pc_node *node[NODE_CHUNKS];
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

bool call_paths_open(uint64_t period_nanos) {
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
  table->period_nanos = period_nanos;
  static const int32_t always[] = {
      [FRAME_ELSEWHERE] = MDL_PC_ELSEWHERE, [FRAME_PROBES] = MDL_PC_PROBES, [FRAME_CUT] = MDL_PC_CUT};
  for (uint32_t i = 0; i < sizeof always / sizeof *always; i++) {
    if (call_paths_frame(&(struct mdl_pc_frame){.function = always[i]}) != i) {
      return false;
    }
  }
  if (new_node(0, FRAME_ELSEWHERE) != 0 || paths->nodes != 1) {
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

void call_paths_add(const uint32_t *frames, size_t count, uint64_t weight) {
  uint32_t node = 0;
  bool fits = true;
  for (size_t i = count; fits && i > 0; i--) {
    node = child(node, frames[i - 1]);
    fits = node != 0;
  }
  paths->table->samples += weight;
  paths->table->squares += weight * weight;
  frame_row(frames[0])->samples += weight;
  *(fits ? &node_row(node)->samples : &paths->table->left_out) += weight;
}

void call_paths_add_lost(uint64_t samples) { paths->table->lost += samples; }

void call_paths_add_cut(uint64_t weight) { paths->table->cut += weight; }

void call_paths_add_without_table(uint64_t weight) { paths->table->no_table += weight; }
