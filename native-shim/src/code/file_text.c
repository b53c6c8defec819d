/*
 * Maps the file's text over the agent's copy of it while threads execute the copy (libraries_hide).
 *
 * Assumes    A1 mremap() takes the old pages from all cores before the new ones are accessible
 *            A2 the mark tells the file's device and inode, the offset and the bytes (code/own_text.h)
 * Guarantees G1 the text is the file's, byte for byte, as it was before it was copied; else it stays the copy
 *            G2 a thread in the text continues at the same address. Each of its instructions is one of the copy or one of
 *               the file. Sites begin and end where instructions of the file do; threads at the instructions that a jump
 *               covers execute the function's own. What jumps lead to, and rows of the trap table, stay
 */
#include "code/file_text.h"

#include "code/code.h"
#include "code/own_text.h"
#include "os/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

bool file_text_is_copy(const struct mdl_text *text) {
  struct backing at, code;
  return maps_backing(text->start, &at) && maps_backing(code_text_alias(), &code) && at.device == code.device &&
         at.inode == code.inode && at.end >= text->start + text->length;
}

void *file_text_map(const char *path, uint64_t offset, const struct mdl_text *text) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    return NULL;
  }
  void *memory = mmap(NULL, text->length, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)offset);
  close(file);
  if (memory == MAP_FAILED) {
    return NULL;
  }
  if (own_text_mark((uintptr_t)memory, text->length, memory) != text->mark) {
    file_text_discard(memory, text);
    return NULL;
  }
  return memory;
}

int64_t file_text_put(void *memory, const struct mdl_text *text) {
  void *moved = mremap(memory, text->length, text->length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)text->start);
  return moved == MAP_FAILED ? -errno : 0;
}

void file_text_discard(void *memory, const struct mdl_text *text) { munmap(memory, text->length); }
