#include "os/program.h"

#include "os/next.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char go_owner[] = "Go\0"; /* four bytes, with the final NUL */

enum { GO_BUILD_ID = 4 };

static size_t padded(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

static bool has_go_note(const char *at, size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, at, sizeof note);
    at += sizeof note;
    bytes -= sizeof note;
    size_t contents = padded(note.n_namesz) + padded(note.n_descsz);
    if (contents > bytes) {
      return false;
    }
    if (note.n_type == GO_BUILD_ID && note.n_namesz == sizeof go_owner && memcmp(at, go_owner, sizeof go_owner) == 0) {
      return true;
    }
    at += contents;
    bytes -= contents;
  }
  return false;
}

/* The first object is the program itself. */
static int look(struct dl_phdr_info *image, size_t size, void *found) {
  (void)size;
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    if (segment->p_type == PT_NOTE && segment->p_align <= 4) {
      *(bool *)found |= has_go_note((const char *)(image->dlpi_addr + segment->p_vaddr), segment->p_memsz);
    }
  }
  return 1;
}

bool program_is_go(void) {
  bool found = false;
  next()->dl_iterate_phdr(look, &found);
  return found;
}
