/*
 * Registers generated code with unwinders, which find frame descriptions by _dl_find_object (GCC 12 and later) or
 * dl_iterate_phdr (LLVM, older GCC), and with GDB by its JIT interface ("Debugging with GDB", "JIT Compilation Interface").
 */
#include "code/unwind.h"

#include "os/libgcc.h"
#include "os/next.h"
#include "os/own_memory.h"
#include "os/self.h"
#include "session/kin.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

enum { RANGES = 4096 };

/* Written by the agent only. A range is complete before the count includes it, and is never removed. */
struct range {
  uint64_t start, length, header;
};
static struct range ranges[RANGES];
static uint32_t range_count;

static const struct range *find(uint64_t address) {
  uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    if (address - ranges[i].start < ranges[i].length) {
      return &ranges[i];
    }
  }
  return NULL;
}

uint64_t unwind_header(uint64_t address) {
  const struct range *range = find(address);
  return range ? range->header : 0;
}

EXPORT int _dl_find_object(void *address, struct dl_find_object *result) {
  const struct range *range = find((uintptr_t)address);
  if (range) {
    *result = (struct dl_find_object){
        .dlfo_map_start = (void *)range->start,
        .dlfo_map_end = (void *)(range->start + range->length),
        .dlfo_eh_frame = (void *)range->header,
    };
    return 0;
  }
  return next()->dl_find_object ? next()->dl_find_object(address, result) : -1;
}

typedef int visit(struct dl_phdr_info *, size_t, void *);

/* The agent needs the linker's own view. */
EXPORT int dl_iterate_phdr(visit *callback, void *data) {
  int result = next()->dl_iterate_phdr(callback, data);
  uint32_t count = is_agent_thread ? 0 : __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count && result == 0; i++) {
    const struct range *range = &ranges[i];
    const ElfW(Phdr) headers[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = range->length, .p_filesz = range->length},
        {.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_vaddr = range->header - range->start},
    };
    struct dl_phdr_info info = {
        .dlpi_addr = range->start, .dlpi_name = "[mdl]", .dlpi_phdr = headers, .dlpi_phnum = 2};
    result = callback(&info, sizeof info, data);
  }
  return result;
}

/* ---- backtraces of the application, without trampolines */

enum { RAW_FRAMES = 1024 };

static int without_trampolines(void **to, int capacity, void *const *from, int count) {
  int kept = 0;
  for (int i = 0; i < count && kept < capacity; i++) {
    if (!find((uintptr_t)from[i])) {
      to[kept++] = from[i];
    }
  }
  return kept;
}

EXPORT int backtrace(void **frames, int capacity) {
  if (__atomic_load_n(&range_count, __ATOMIC_RELAXED) == 0 || capacity <= 0) {
    return next()->backtrace(frames, capacity);
  }
  if (capacity < RAW_FRAMES / 2) {
    void *raw[RAW_FRAMES];
    int count = next()->backtrace(raw, RAW_FRAMES);
    return count <= 1 ? 0 : without_trampolines(frames, capacity, raw + 1, count - 1); /* the first is this function */
  }
  int count = next()->backtrace(frames, capacity);
  return count <= 1 ? 0 : without_trampolines(frames, capacity, frames + 1, count - 1);
}

struct trace {
  _Unwind_Trace_Fn callback;
  void *data;
  bool begun;
};

static _Unwind_Reason_Code pass_on(struct _Unwind_Context *context, void *pointer) {
  struct trace *trace = pointer;
  static _Atomic(_Unwind_Ptr (*)(struct _Unwind_Context *)) get_address;
  if (!get_address) {
    *(void **)&get_address = unwinder_symbol("_Unwind_GetIP");
  }
  bool is_ours = !trace->begun || find(get_address(context)); /* the first is _Unwind_Backtrace below */
  trace->begun = true;
  return is_ours ? _URC_NO_REASON : trace->callback(context, trace->data);
}

EXPORT _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn callback, void *data) {
  static _Atomic(_Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void *)) original;
  if (!original) {
    *(void **)&original = dlsym(RTLD_NEXT, "_Unwind_Backtrace"); /* looked up late, because its library is loaded on demand */
  }
  if (!original && process_was_attached) { /* RTLD_NEXT does not find libgcc then */
    void *library = next()->dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&original = library ? dlsym(library, "_Unwind_Backtrace") : NULL;
  }
  if (!original) {
    return _URC_END_OF_STACK;
  }
  struct trace trace = {.callback = callback, .data = data};
  return original(pass_on, &trace);
}

/* ---- GDB */

struct debug_entry {
  struct debug_entry *next, *previous;
  const void *file;
  uint64_t size;
};
/* The names and the layout are GDB's. */
struct jit_descriptor {
  uint32_t version, action;
  struct debug_entry *relevant, *first;
};
enum { JIT_REGISTER = 1 };
__attribute__((used)) struct jit_descriptor __jit_debug_descriptor = {.version = 1};
__attribute__((used, noinline)) void __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

static const char section_names[] = "\0.text\0.eh_frame\0.symtab\0.strtab\0.shstrtab";
static const char symbol_names[] = "\0mdl_trampoline";
enum { TEXT = 1, EH_FRAME, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };

/* An ELF file in memory with one function that covers the range, and its frame descriptions. */
struct debug_file {
  struct debug_entry entry;
  Elf64_Ehdr header;
  Elf64_Shdr sections[SECTIONS];
  Elf64_Sym symbols[2];
  char names[sizeof symbol_names];
  char section_names[sizeof section_names];
  char eh_frame[];
};

static uint64_t frames_of(uint64_t header) {
  int32_t offset; /* after the four encoding bytes; UnwindTable */
  memcpy(&offset, (const void *)(header + 4), sizeof offset);
  return header + 4 + (uint64_t)(int64_t)offset;
}

static uint64_t frames_end(uint64_t frames) {
  uint32_t length;
  while (memcpy(&length, (const void *)frames, sizeof length), length != 0) {
    frames += sizeof length + length;
  }
  return frames + sizeof length;
}

#define OFFSET(field) (offsetof(struct debug_file, field) - offsetof(struct debug_file, header))

static struct debug_entry *debug_file(const struct range *range) {
  uint64_t frames = frames_of(range->header);
  uint64_t size = frames_end(frames) - frames;
  /* Not malloc(): a relative's joining thread would need its own arena. */
  struct debug_file *file =
      own_memory_map(NULL, sizeof *file + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, INHERITED);
  if (file == MAP_FAILED) {
    return NULL;
  }
  *file = (struct debug_file){
      .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = EM_X86_64,
                 .e_version = EV_CURRENT,
                 .e_ehsize = sizeof(Elf64_Ehdr),
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shoff = OFFSET(sections),
                 .e_shnum = SECTIONS,
                 .e_shstrndx = SHSTRTAB},
      .sections =
          {
              [TEXT] = {.sh_name = 1,
                        .sh_type = SHT_NOBITS,
                        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                        .sh_addr = range->start,
                        .sh_size = range->length,
                        .sh_addralign = 64},
              [EH_FRAME] = {.sh_name = 7,
                            .sh_type = SHT_PROGBITS,
                            .sh_flags = SHF_ALLOC,
                            .sh_addr = frames,
                            .sh_offset = OFFSET(eh_frame),
                            .sh_size = size,
                            .sh_addralign = 4},
              [SYMTAB] = {.sh_name = 17,
                          .sh_type = SHT_SYMTAB,
                          .sh_offset = OFFSET(symbols),
                          .sh_size = sizeof file->symbols,
                          .sh_link = STRTAB,
                          .sh_info = 1,
                          .sh_addralign = 8,
                          .sh_entsize = sizeof(Elf64_Sym)},
              [STRTAB] = {.sh_name = 25,
                          .sh_type = SHT_STRTAB,
                          .sh_offset = OFFSET(names),
                          .sh_size = sizeof symbol_names,
                          .sh_addralign = 1},
              [SHSTRTAB] = {.sh_name = 33,
                            .sh_type = SHT_STRTAB,
                            .sh_offset = OFFSET(section_names),
                            .sh_size = sizeof section_names,
                            .sh_addralign = 1},
          },
      .symbols = {[1] = {.st_name = 1,
                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                         .st_shndx = TEXT,
                         .st_value = range->start,
                         .st_size = range->length}},
  };
  memcpy(file->names, symbol_names, sizeof symbol_names);
  memcpy(file->section_names, section_names, sizeof section_names);
  memcpy(file->eh_frame, (const void *)frames, size);
  file->entry.file = &file->header;
  file->entry.size = sizeof *file - offsetof(struct debug_file, header) + size;
  return &file->entry;
}

static void tell_debugger(const struct range *range) {
  struct debug_entry *entry = debug_file(range);
  if (entry) {
    entry->next = __jit_debug_descriptor.first;
    if (entry->next) {
      entry->next->previous = entry;
    }
    __jit_debug_descriptor.first = entry;
    __jit_debug_descriptor.relevant = entry;
    __jit_debug_descriptor.action = JIT_REGISTER;
    __jit_debug_register_code();
  }
}

int64_t unwind_trampolines(uint64_t start, uint64_t length, uint64_t header) {
  if (range_count == RANGES) {
    return -ENOSPC;
  }
  struct range *range = &ranges[range_count];
  *range = (struct range){.start = start, .length = length, .header = header};
  kin_note(KIN_FRAMES, start, length, header, 0);
  __atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
  tell_debugger(range);
  return 0;
}

void unwind_join(void) {
  uint32_t inherited = range_count;
  for (uint32_t i = 0, number = 0; i < atomic_load(&kin->pieces); i++) {
    const struct kin_piece *piece = &kin->piece[i];
    if (piece->kind == KIN_FRAMES && number++ >= inherited) {
      unwind_trampolines(piece->start, piece->length, piece->at);
    }
  }
}
