#include "target.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char libc_name[] = "/libc.so.6";
static const uint64_t LOWEST_HOLE = 1ULL << 32; /* lower addresses may be reserved: MAP_32BIT, vm.mmap_min_addr */

/* ---- the file of an image */

struct image {
  const uint8_t *bytes;
  size_t size;
  uint64_t base; /* in the target */
};

static bool open_image(struct image *image, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0) {
    return false;
  }
  void *bytes = MAP_FAILED;
  if (fstat(file, &status) == 0 && (size_t)status.st_size > sizeof(Elf64_Ehdr)) {
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (bytes == MAP_FAILED) {
    return false;
  }
  image->bytes = bytes;
  image->size = (size_t)status.st_size;
  return memcmp(image->bytes, ELFMAG, SELFMAG) == 0;
}

/* The file of a mapping: itself if that is permitted, else the one that has its path now. */
static bool open_mapped(struct image *image, pid_t pid, const struct range *range, const char *path) {
  char other[PATH_MAX + 64];
  snprintf(other, sizeof other, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)range->start,
           (unsigned long long)range->end);
  if (open_image(image, other)) {
    return true;
  }
  snprintf(other, sizeof other, "/proc/%d/root%s", pid, path);
  return open_image(image, other);
}

static bool has_bytes(const struct image *image, uint64_t offset, uint64_t bytes) {
  return offset <= image->size && bytes <= image->size - offset;
}

/* The value of a defined dynamic symbol; 0 if there is none. */
static uint64_t find_symbol(const struct image *image, const char *name) {
  const Elf64_Ehdr *header = (const void *)image->bytes;
  const Elf64_Shdr *sections = (const void *)(image->bytes + header->e_shoff);
  if (!has_bytes(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections)) {
    return 0;
  }
  for (unsigned i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr *table = &sections[i];
    if (table->sh_type != SHT_DYNSYM || table->sh_link >= header->e_shnum ||
        !has_bytes(image, table->sh_offset, table->sh_size)) {
      continue;
    }
    const Elf64_Shdr *names = &sections[table->sh_link];
    const Elf64_Sym *symbols = (const void *)(image->bytes + table->sh_offset);
    for (uint64_t s = 0; s < table->sh_size / sizeof *symbols; s++) {
      uint64_t at = names->sh_offset + symbols[s].st_name;
      if (symbols[s].st_shndx != SHN_UNDEF && has_bytes(image, at, strlen(name) + 1) &&
          strcmp((const char *)image->bytes + at, name) == 0) {
        return symbols[s].st_value;
      }
    }
  }
  return 0;
}

/* The address in the target of the first match in executable segments; 0 if there is none. */
static uint64_t find_code(const struct image *image, const void *code, size_t bytes) {
  const Elf64_Ehdr *header = (const void *)image->bytes;
  const Elf64_Phdr *segments = (const void *)(image->bytes + header->e_phoff);
  if (!has_bytes(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments)) {
    return 0;
  }
  for (unsigned i = 0; i < header->e_phnum; i++) {
    const Elf64_Phdr *segment = &segments[i];
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && has_bytes(image, segment->p_offset, segment->p_filesz)) {
      const uint8_t *start = image->bytes + segment->p_offset;
      const uint8_t *found = memmem(start, segment->p_filesz, code, bytes);
      if (found) {
        return image->base + segment->p_vaddr + (uint64_t)(found - start);
      }
    }
  }
  return 0;
}

/* ---- /proc */

void target_text(pid_t pid, const char *name, char *text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  size_t length = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  for (ssize_t more; file >= 0 && length < capacity - 1 && (more = read(file, text + length, capacity - 1 - length)) > 0;) {
    length += (size_t)more;
  }
  if (file >= 0) {
    close(file);
  }
  text[length] = 0;
}

struct mapping {
  struct range range;
  uint64_t offset, inode;
  char access[5];
  char path[PATH_MAX];
};

static bool next_mapping(FILE *maps, struct mapping *mapping) {
  char line[PATH_MAX + 128];
  if (!fgets(line, sizeof line, maps)) {
    return false;
  }
  unsigned long start, end, offset, inode;
  int path = 0;
  if (sscanf(line, "%lx-%lx %4s %lx %*s %lu %n", &start, &end, mapping->access, &offset, &inode, &path) < 5) {
    return false;
  }
  line[strcspn(line, "\n")] = 0;
  mapping->range = (struct range){start, end};
  mapping->offset = offset;
  mapping->inode = inode;
  snprintf(mapping->path, sizeof mapping->path, "%s", line + path);
  return true;
}

static FILE *open_maps(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  return fopen(path, "re");
}

bool target_mapping(const struct target *target, uint64_t address, struct range *mapping) {
  FILE *maps = open_maps(target->pid);
  struct mapping each;
  bool found = false;
  while (maps && !found && next_mapping(maps, &each)) {
    found = address >= each.range.start && address < each.range.end;
  }
  if (maps) {
    fclose(maps);
  }
  *mapping = each.range;
  return found;
}

size_t target_mappings(const struct target *target, struct range *mappings, size_t capacity) {
  FILE *maps = open_maps(target->pid);
  struct mapping each;
  size_t count = 0;
  while (maps && count < capacity && next_mapping(maps, &each)) {
    mappings[count++] = each.range;
  }
  if (maps) {
    fclose(maps);
  }
  return count;
}

bool target_get(const struct target *target, uint64_t address, void *to, size_t bytes) {
  return pread(target->memory, to, bytes, (off_t)address) == (ssize_t)bytes;
}

bool target_put(const struct target *target, uint64_t address, const void *from, size_t bytes) {
  return pwrite(target->memory, from, bytes, (off_t)address) == (ssize_t)bytes;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The code in memory may differ from the file: a newer version, or a program that has changed its code. */
static bool is_in_memory(const struct target *target, uint64_t address, const void *code, size_t bytes) {
  uint8_t found[16];
  return address && target_get(target, address, found, bytes) && memcmp(found, code, bytes) == 0;
}

static const char *read_libc(struct target *target, const char *path, const struct range *first) {
  uint64_t base = first->start;
  static const uint8_t call_and_return[] = {0x0F, 0x05, 0xC3};
  static const uint8_t signal_return[] = {0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F, 0x05};
  const struct {
    const char *name;
    uint64_t *address;
  } functions[] = {{"pthread_create", &target->pthread_create},
                   {"pthread_detach", &target->pthread_detach},
                   {"dlopen", &target->dlopen},
                   {"dlsym", &target->dlsym},
                   {"dlerror", &target->dlerror}};
  struct image libc = {.base = base};
  if (!open_mapped(&libc, target->pid, first, path)) {
    return "the file of its libc cannot be read: it was replaced, or is in another container";
  }
  target->call_and_return = find_code(&libc, call_and_return, sizeof call_and_return);
  target->signal_return = find_code(&libc, signal_return, sizeof signal_return);
  const char *trouble = NULL;
  if (!is_in_memory(target, target->call_and_return, call_and_return, sizeof call_and_return) ||
      !is_in_memory(target, target->signal_return, signal_return, sizeof signal_return)) {
    trouble = "its libc is not the one that is on the disk now";
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions && !trouble; i++) {
    uint64_t value = find_symbol(&libc, functions[i].name);
    uint8_t file_code[8];
    *functions[i].address = base + value;
    if (!value) {
      trouble = "its libc is older than glibc 2.34";
    } else if (!target_get(target, base + value, file_code, sizeof file_code)) {
      trouble = "its memory cannot be read";
    }
  }
  munmap((void *)libc.bytes, libc.size);
  return trouble;
}

static bool defines_allocator(pid_t pid) {
  struct image program = {.base = 0};
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/exe", pid);
  if (!open_image(&program, path)) {
    return true; /* unknown: assume the worst */
  }
  bool defines = find_symbol(&program, "malloc") != 0;
  munmap((void *)program.bytes, program.size);
  return defines;
}

const char *target_read(struct target *target, pid_t pid) {
  char path[64], program[PATH_MAX], libc_path[PATH_MAX] = "";
  struct mapping mapping;
  struct range libc = {0, 0};
  uint64_t behind = LOWEST_HOLE, widest = 3 * HOLE_BYTES;
  *target = (struct target){.pid = pid};
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  target->memory = open(path, O_RDWR | O_CLOEXEC);
  if (target->memory < 0) {
    return "its memory cannot be opened";
  }
  snprintf(path, sizeof path, "/proc/%d/exe", pid);
  ssize_t length = readlink(path, program, sizeof program - 1);
  program[length > 0 ? length : 0] = 0;
  FILE *maps = open_maps(pid);
  if (!maps) {
    return "its mappings cannot be read";
  }
  while (next_mapping(maps, &mapping)) {
    /* The middle of the widest hole below libc, because the kernel allocates from a hole's ends. */
    if (!libc.end && mapping.range.start > behind && mapping.range.start - behind >= widest) {
      widest = mapping.range.start - behind;
      target->hole = (behind + widest / 2) & -(uint64_t)HOLE_BYTES;
    }
    behind = mapping.range.end > behind ? mapping.range.end : behind;
    if (!libc.end && mapping.offset == 0 && ends_with(mapping.path, libc_name)) {
      libc = mapping.range;
      snprintf(libc_path, sizeof libc_path, "%s", mapping.path);
    }
    if (!target->program.end && mapping.access[2] == 'x' && strcmp(mapping.path, program) == 0) {
      target->program = mapping.range;
    }
  }
  fclose(maps);
  if (!libc.end) {
    return "it has no glibc";
  }
  if (!target->hole) {
    return "its address space has no room";
  }
  target->program_has_allocator = defines_allocator(pid);
  return read_libc(target, libc_path, &libc);
}
