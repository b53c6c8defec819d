/*
 * A child forked while the agent puts probes in place gets them later, like one that was forked before (agent/relatives.c),
 * or starts its own agent if its parent has ended. In both cases it must start with the program's original text. So the
 * child reverts the agent's replacements at the fork, while it has one thread.
 *
 * Assumes    A1 the child has all replacements of a call of libraries_show(), or none: the gate is held at forks
 * Guarantees G1 no thread of a child without an agent executes a probe, so none uses a session that the child gives up
 *            G2 only copies are taken back, and only for the file that was mapped there
 */
#include "code/shown_text.h"

#include "code/code.h"
#include "os/maps.h"
#include "session/kin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct text {
  struct text *next;
  uint64_t start, length;
  struct backing original; /* of `start` */
  char path[];
};

static struct text *texts; /* the agent's thread adds to them; empty in a child that has reverted them */

void shown_text_note(const char *path, uint64_t start, uint64_t length) {
  if (atomic_load(&kin_has_probes)) {
    return;
  }
  const char *name = *path ? path : "/proc/self/exe";
  struct text *text = malloc(sizeof *text + strlen(name) + 1);
  if (text) {
    *text = (struct text){.next = texts, .start = start, .length = length};
    strcpy(text->path, name);
    maps_backing(start, &text->original);
    text->original.offset += start - text->original.start;
    texts = text;
  }
}

static bool is_of(const struct backing *backing, const struct backing *file) {
  return backing->device == file->device && backing->inode == file->inode;
}

static bool is_copy(const struct text *text) {
  struct backing at, code;
  return maps_backing(text->start, &at) && maps_backing(code_text_alias(), &code) && is_of(&at, &code) &&
         at.end >= text->start + text->length;
}

/* Mapped elsewhere first, until it is known to be the same file. */
static bool take_back(const struct text *text) {
  struct backing found;
  int file = open(text->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  void *memory = file < 0 ? MAP_FAILED
                          : mmap(NULL, text->length, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)text->original.offset);
  if (file >= 0) {
    close(file);
  }
  if (memory == MAP_FAILED) {
    return false;
  }
  bool is_same = maps_backing((uintptr_t)memory, &found) && is_of(&found, &text->original) &&
                 mremap(memory, text->length, text->length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)text->start) != MAP_FAILED;
  if (!is_same) {
    munmap(memory, text->length);
  }
  return is_same;
}

bool shown_text_take_back(void) {
  bool all = true;
  for (const struct text *text = texts; text; text = text->next) {
    all &= !is_copy(text) || take_back(text);
  }
  texts = NULL;
  return all;
}
