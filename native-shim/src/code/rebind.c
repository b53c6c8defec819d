#include "code/rebind.h"

#include <dlfcn.h>
#include <link.h>
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

/* Tables of relocations: those of calls, and all others behind the relative ones, which come first and name nothing. */
struct names {
  const Elf64_Sym *symbols;
  const char *strings;
  struct table calls, others;
};

static struct names read_dynamic(const Elf64_Dyn *entry) {
  struct names names = {0};
  uint64_t relative = 0;
  for (; entry->d_tag != DT_NULL; entry++) {
    const void *at = (const void *)entry->d_un.d_ptr; /* glibc has made addresses of them */
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

/* Words that the dynamic linker has made unwritable become so again. */
static void store(uint64_t base, uint64_t word, const void *function) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
  const Elf64_Phdr *segment = (const Elf64_Phdr *)(base + header->e_phoff);
  bool fixed = false;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    uint64_t start = base + segment[i].p_vaddr, end = (start + segment[i].p_memsz) & -(uint64_t)PAGE;
    fixed |= segment[i].p_type == PT_GNU_RELRO && word >= start && word < end;
  }
  void *page = (void *)(word & -(uint64_t)PAGE);
  if (fixed && mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  *(const void **)word = function;
  if (fixed) {
    mprotect(page, PAGE, PROT_READ);
  }
}

void rebind(void *library, const char *symbol, const void *function) {
  struct link_map *map;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    return;
  }
  struct names names = read_dynamic(map->l_ld);
  const struct table *tables[] = {&names.calls, &names.others};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    for (size_t entry = 0; entry < tables[i]->bytes / sizeof(Elf64_Rela); entry++) {
      const Elf64_Rela *relocation = &tables[i]->entries[entry];
      uint64_t type = ELF64_R_TYPE(relocation->r_info);
      bool is_word = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
      if (is_word && strcmp(names.strings + names.symbols[ELF64_R_SYM(relocation->r_info)].st_name, symbol) == 0) {
        store(map->l_addr, map->l_addr + relocation->r_offset, function);
      }
    }
  }
}
