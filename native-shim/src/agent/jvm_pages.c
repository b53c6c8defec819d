#include "agent/jvm_pages.h"

#include "os/gate.h"
#include "os/maps.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* The compiler and the first polls need pages as well. */
static const uint64_t DELAY_NANOS = 1000000000u;

static uint64_t due;
static bool is_done;

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Segments that are never writable. The others have relocated words, also where they are read-only now. */
static int release_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (!info->dlpi_name || !ends_with(info->dlpi_name, "/runtime/lib/server/libjvm.so")) {
    return 0;
  }
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W)) {
      uint64_t start = (info->dlpi_addr + segment->p_vaddr) & -4096ull;
      uint64_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & -4096ull;
      madvise((void *)start, end - start, MADV_DONTNEED);
    }
  }
  return 1;
}

/* The part of the cache that the JVM maps read-only. Where it has to relocate that part, it maps it writable. */
static void release_cache(void) {
  struct maps maps;
  struct mapping mapping;
  if (!maps_open(&maps)) {
    return;
  }
  while (maps_next(&maps, &mapping)) {
    if (strstr(mapping.line, " r--p ") && ends_with(maps_path(&mapping), "/runtime/lib/agent.aot")) {
      madvise((void *)mapping.start, mapping.end - mapping.start, MADV_DONTNEED);
    }
  }
  maps_close(&maps);
}

void jvm_pages_release(uint64_t now) {
  if (due == 0) {
    due = now + DELAY_NANOS;
  }
  if (is_done || now < due) {
    return;
  }
  is_done = true;
  gate_lock();
  dl_iterate_phdr(release_library, NULL);
  gate_unlock();
  release_cache();
}
