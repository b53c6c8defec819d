/*
 * Must be cheap, because every short-lived command pays for it: checks the names of an image's sections, its imports, and,
 * if it has a full symbol table, the names in it. The rules are those of Java's Instrumentation.
 */
#include "code/probes.h"

#include "os/next.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { SECTIONS_MAX = 64, SECTION_NAMES_MAX = 2048, CHUNK = 16384 };

static const uint64_t SYMBOL_NAMES_MAX = 1u << 20; /* searching more would take longer than a short command */
static const char enter_hook[] = "__cyg_profile_func_enter";

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names; names++) {
    if (strcmp(name, *names) == 0) {
      return true;
    }
  }
  return false;
}

/* ---- the image's file */

static bool read_at(int file, void *to, uint64_t bytes, uint64_t offset) {
  return pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Chunks overlap, so that no name is cut in two. */
static __attribute__((noinline)) bool names_enter_hook(int file, const Elf64_Shdr *names) {
  char chunk[CHUNK];
  for (uint64_t at = 0; at < names->sh_size; at += sizeof chunk - sizeof enter_hook) {
    ssize_t length = pread(file, chunk, sizeof chunk, (off_t)(names->sh_offset + at));
    if (length > 0 && memmem(chunk, (size_t)length, enter_hook, sizeof enter_hook)) {
      return true;
    }
  }
  return false;
}

/* Number of the image's dynamic symbols; UINT32_MAX if there are probes. */
static uint32_t look_at_sections(int file, const Elf64_Shdr *sections, uint32_t count, const char *names) {
  static const char *const tables[] = {"__patchable_function_entries", "xray_instr_map", "__mcount_loc", NULL};
  uint32_t symbols = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (sections[i].sh_name < SECTION_NAMES_MAX && is_one_of(names + sections[i].sh_name, tables)) {
      return UINT32_MAX;
    }
    if (sections[i].sh_type == SHT_DYNSYM) {
      symbols = (uint32_t)(sections[i].sh_size / sizeof(Elf64_Sym));
    } else if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < count) {
      const Elf64_Shdr *symbol_names = &sections[sections[i].sh_link];
      if (symbol_names->sh_size > SYMBOL_NAMES_MAX || names_enter_hook(file, symbol_names)) {
        return UINT32_MAX;
      }
    }
  }
  return symbols;
}

static __attribute__((noinline)) uint32_t look_at_file(int file) {
  Elf64_Ehdr header;
  Elf64_Shdr sections[SECTIONS_MAX];
  char names[SECTION_NAMES_MAX] = "";
  if (!read_at(file, &header, sizeof header, 0) || header.e_shnum == 0) {
    return 0;
  }
  if (header.e_shnum > SECTIONS_MAX || header.e_shstrndx >= header.e_shnum ||
      !read_at(file, sections, header.e_shnum * sizeof *sections, header.e_shoff)) {
    return UINT32_MAX;
  }
  const Elf64_Shdr *names_section = &sections[header.e_shstrndx];
  if (names_section->sh_size >= sizeof names || !read_at(file, names, names_section->sh_size, names_section->sh_offset)) {
    return UINT32_MAX;
  }
  return look_at_sections(file, sections, header.e_shnum, names);
}

/* ---- its imports */

static const void *in_memory(const struct dl_phdr_info *image, uint64_t address) {
  return (const void *)(address < image->dlpi_addr ? address + image->dlpi_addr : address);
}

static bool imports_hook(const struct dl_phdr_info *image, const Elf64_Dyn *entry, uint32_t count) {
  static const char *const hooks[] = {enter_hook, "__fentry__", "mcount", "_mcount", NULL};
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  const uint32_t *hash = NULL;
  for (; entry->d_tag != DT_NULL; entry++) {
    const void *at = in_memory(image, entry->d_un.d_ptr);
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = at; break;
      case DT_STRTAB: names = at; break;
      case DT_GNU_HASH: hash = at; break;
      default: break;
    }
  }
  /* Defined symbols come last. 1: the table is empty and does not tell where they begin. */
  if (hash && hash[1] > 1 && hash[1] < count) {
    count = hash[1];
  }
  for (uint32_t i = 1; symbols && names && i < count; i++) {
    if (symbols[i].st_shndx == SHN_UNDEF && is_one_of(names + symbols[i].st_name, hooks)) {
      return true;
    }
  }
  return false;
}

/* ---- all images */

static bool look_at_image(const struct dl_phdr_info *image) {
  int file = open(image->dlpi_name[0] ? image->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return strchr(image->dlpi_name, '/') != NULL; /* the vDSO has no file */
  }
  uint32_t symbols = look_at_file(file);
  close(file);
  if (symbols == UINT32_MAX) {
    return true;
  }
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const Elf64_Phdr *segment = &image->dlpi_phdr[i];
    if (segment->p_type == PT_DYNAMIC) {
      return imports_hook(image, (const Elf64_Dyn *)(image->dlpi_addr + segment->p_vaddr), symbols);
    }
  }
  return false;
}

static int has_probes(struct dl_phdr_info *image, size_t size, void *own) {
  (void)size;
  return image->dlpi_addr != *(uint64_t *)own && look_at_image(image);
}

/* A program that defines its own hooks may call them internally, which no import shows. */
static bool somebody_has_hooks(void) {
  Dl_info hook, libc;
  void *found = dlsym(RTLD_DEFAULT, enter_hook);
  return found && dladdr(found, &hook) && dladdr((void *)next()->sigaction, &libc) && hook.dli_fbase != libc.dli_fbase;
}

bool probes_are_loaded(void) {
  Dl_info own;
  uint64_t base = dladdr((void *)probes_are_loaded, &own) ? (uint64_t)own.dli_fbase : 0;
  return next()->dl_iterate_phdr(has_probes, &base) != 0 || somebody_has_hooks();
}
