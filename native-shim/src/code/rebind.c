#include "code/rebind.h"

#include "os/glibc.h"
#include "os/next.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct table {
  const Elf64_Rela *entries;
  size_t bytes;
};

/* Relocation tables: calls, and all others after the relative ones, which come first and have no symbol. */
struct names {
  const Elf64_Sym *symbols;
  const char *strings;
  struct table calls, others;
};

/* `base`: load address. glibc has turned the offsets into addresses, except in the vDSO. */
static struct names read_dynamic(const Elf64_Dyn *entry, uint64_t base) {
  struct names names = {0};
  uint64_t relative = 0;
  for (; entry->d_tag != DT_NULL; entry++) {
    const void *at = (const void *)(entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB: names.symbols = at; break;
    case DT_STRTAB: names.strings = at; break;
    case DT_JMPREL: names.calls.entries = at; break;
    case DT_PLTRELSZ: names.calls.bytes = entry->d_un.d_val; break;
    case DT_RELA: names.others.entries = at; break;
    case DT_RELASZ: names.others.bytes = entry->d_un.d_val; break;
    case DT_RELACOUNT: relative = entry->d_un.d_val; break;
    default: break;
    }
  }
  names.others.entries += relative;
  names.others.bytes -= relative * sizeof *names.others.entries;
  return names;
}

/* Restores read-only protection of words that the dynamic linker has protected (RELRO). */
static void store(const Elf64_Phdr *segment, unsigned count, uint64_t base, uint64_t word, const void *function) {
  bool fixed = false;
  for (unsigned i = 0; i < count; i++) {
    uint64_t start = base + segment[i].p_vaddr, end = (start + segment[i].p_memsz) & -(uint64_t)PAGE;
    fixed |= segment[i].p_type == PT_GNU_RELRO && word >= start && word < end;
  }
  void *page = (void *)(word & -(uint64_t)PAGE);
  if (fixed && mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  __atomic_store_n((const void **)word, function, __ATOMIC_RELEASE);
  if (fixed) {
    mprotect(page, PAGE, PROT_READ);
  }
}

void rebind(void *library, const char *symbol, const void *function) {
  struct link_map *map;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    return;
  }
  struct names names = read_dynamic(map->l_ld, 0);
  const struct table *tables[] = {&names.calls, &names.others};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    for (size_t entry = 0; entry < tables[i]->bytes / sizeof(Elf64_Rela); entry++) {
      const Elf64_Rela *relocation = &tables[i]->entries[entry];
      uint64_t type = ELF64_R_TYPE(relocation->r_info);
      bool is_word = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
      if (is_word && strcmp(names.strings + names.symbols[ELF64_R_SYM(relocation->r_info)].st_name, symbol) == 0) {
        const Elf64_Ehdr *header = (const Elf64_Ehdr *)map->l_addr;
        store((const Elf64_Phdr *)(map->l_addr + header->e_phoff), header->e_phnum, map->l_addr,
              map->l_addr + relocation->r_offset, function);
      }
    }
  }
}

/* ---- the wrappers, in all images */

enum { WRAPPERS_MAX = 256, IMAGES_MAX = 4096 };

/* An exported function, and the address that its name would resolve to without this library. */
struct wrapper {
  const char *name;
  const void *function;
  uint64_t start, end; /* of the image with that function */
};

static struct {
  pthread_once_t once;
  struct wrapper list[WRAPPERS_MAX];
  size_t count;
  uint64_t own; /* in this library's image */
} wrappers = {.once = PTHREAD_ONCE_INIT};

/* Images that have been processed; reset when one is unloaded. */
static struct {
  uint64_t dynamic[IMAGES_MAX];
  size_t count;
  unsigned long long removals;
} seen;

/* Any other image that defines this name precedes libc on purpose. */
static bool is_of_the_system(const char *path) {
  static const char *const names[] = {"libc.so", "ld-linux", "libgcc_s", "libpthread", "libdl"};
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strncmp(name, names[i], strlen(names[i])) == 0) {
      return true;
    }
  }
  return false;
}

static bool contains(const struct dl_phdr_info *image, uint64_t address) {
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const Elf64_Phdr *segment = &image->dlpi_phdr[i];
    uint64_t start = image->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && address >= start && address < start + segment->p_memsz) {
      return true;
    }
  }
  return false;
}

/* The extent of the image that contains `start`. */
static int find_extent(struct dl_phdr_info *image, size_t size, void *pointer) {
  (void)size;
  struct wrapper *wrapper = pointer;
  if (!contains(image, wrapper->start)) {
    return 0;
  }
  wrapper->start = UINT64_MAX;
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const Elf64_Phdr *segment = &image->dlpi_phdr[i];
    uint64_t start = image->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
    if (segment->p_type == PT_LOAD) {
      wrapper->start = start < wrapper->start ? start : wrapper->start;
      wrapper->end = end > wrapper->end ? end : wrapper->end;
    }
  }
  return 1;
}

static void list_wrappers(void) {
  struct link_map *map = NULL;
  Dl_info info;
  if (!dladdr1((void *)rebind_wrappers, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
    return;
  }
  wrappers.own = (uintptr_t)info.dli_fbase;
  struct names names = read_dynamic(map->l_ld, 0);
  /* The string table follows the symbol table. */
  for (const Elf64_Sym *symbol = names.symbols; (const char *)symbol < names.strings && wrappers.count < WRAPPERS_MAX; symbol++) {
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) {
      continue;
    }
    const char *name = names.strings + symbol->st_name;
    struct wrapper wrapper = {.name = name, .function = (const void *)(map->l_addr + symbol->st_value)};
    wrapper.start = (uintptr_t)dlsym(RTLD_DEFAULT, name);
    if (wrapper.start && dladdr((const void *)wrapper.start, &info) && is_of_the_system(info.dli_fname) &&
        next()->dl_iterate_phdr(find_extent, &wrapper)) {
      wrappers.list[wrappers.count++] = wrapper;
    }
  }
}

static const struct wrapper *wrapper_of(const char *name) {
  for (size_t i = 0; i < wrappers.count; i++) {
    if (strcmp(wrappers.list[i].name, name) == 0) {
      return &wrappers.list[i];
    }
  }
  return NULL;
}

/* Bound to the function that the wrapper replaces, or not yet bound: to a PLT stub of the image. */
static bool is_to_be_bound(const struct dl_phdr_info *image, const struct wrapper *wrapper, uint64_t value) {
  return contains(image, value) || (value >= wrapper->start && value < wrapper->end);
}

static void rebind_table(const struct dl_phdr_info *image, const struct names *names, const struct table *table) {
  bool is_own = contains(image, wrappers.own);
  for (size_t i = 0; i < table->bytes / sizeof(Elf64_Rela); i++) {
    const Elf64_Rela *relocation = &table->entries[i];
    uint64_t type = ELF64_R_TYPE(relocation->r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) {
      continue;
    }
    const Elf64_Sym *symbol = &names->symbols[ELF64_R_SYM(relocation->r_info)];
    bool is_whole = type == R_X86_64_JUMP_SLOT || relocation->r_addend == 0;
    const struct wrapper *wrapper =
        (symbol->st_shndx == SHN_UNDEF || is_own) && is_whole ? wrapper_of(names->strings + symbol->st_name) : NULL;
    uint64_t word = image->dlpi_addr + relocation->r_offset;
    if (wrapper && word % sizeof word == 0 && is_to_be_bound(image, wrapper, *(const uint64_t *)word)) {
      store(image->dlpi_phdr, image->dlpi_phnum, image->dlpi_addr, word, wrapper->function);
    }
  }
}

static bool is_new(const struct dl_phdr_info *image, uint64_t dynamic) {
  if (image->dlpi_subs != seen.removals) {
    seen.removals = image->dlpi_subs;
    seen.count = 0; /* another image may be at the same address */
  }
  for (size_t i = 0; i < seen.count; i++) {
    if (seen.dynamic[i] == dynamic) {
      return false;
    }
  }
  if (seen.count < IMAGES_MAX) {
    seen.dynamic[seen.count++] = dynamic;
  }
  return true;
}

/* Under the dynamic linker's lock, so one thread at a time. This library's own calls are rebound too. */
static int rebind_image(struct dl_phdr_info *image, size_t size, void *unused) {
  (void)size;
  (void)unused;
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const Elf64_Phdr *segment = &image->dlpi_phdr[i];
    uint64_t dynamic = image->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_DYNAMIC || !is_new(image, dynamic)) {
      continue;
    }
    struct names names = read_dynamic((const Elf64_Dyn *)dynamic, image->dlpi_addr);
    if (names.symbols && names.strings) {
      rebind_table(image, &names, &names.calls);
      rebind_table(image, &names, &names.others);
    }
  }
  return 0;
}

void rebind_wrappers(void) {
  pthread_once(&wrappers.once, list_wrappers);
  next()->dl_iterate_phdr(rebind_image, NULL);
}
