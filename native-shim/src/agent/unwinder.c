#include "agent/unwinder.h"

#include "code/unwind.h"
#include "os/next.h"
#include "os/own_memory.h"
#include "os/self.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { IMAGES = 4096, ROWS = 2048 /* a power of two */, COPIED_EXPRESSION = 64 };

struct image {
  uint64_t start, end, bias, header;
  bool ours;
};

/* Cached row of an instruction. */
struct row {
  uint64_t address; /* 0: free */
  uint64_t bias;
  bool ours, described;
  uint8_t expression[COPIED_EXPRESSION]; /* the CFA's: trampolines have one */
  struct cfi_row cfi;
};

/* One mapping; forked children do not inherit it. */
static struct tables {
  size_t images;
  uint64_t additions, removals; /* dlpi_adds, dlpi_subs */
  struct image image[IMAGES];
  struct row row[ROWS];
} *tables;
static pid_t owner;

static bool program_memory(uint64_t at, void *to, size_t length) {
  struct iovec local = {.iov_base = to, .iov_len = length}, remote = {.iov_base = (void *)at, .iov_len = length};
  return process_vm_readv(process_pid, &local, 1, &remote, 1, 0) == (ssize_t)length;
}

static bool own_memory(uint64_t at, void *to, size_t length) {
  memcpy(to, (const void *)at, length);
  return true;
}

/* ---- images */

/* 1 if the images have not changed. */
static int compare_images(struct dl_phdr_info *info, size_t size, void *known) {
  const struct tables *at = known;
  (void)size;
  return at->images > 0 && at->additions == info->dlpi_adds && at->removals == info->dlpi_subs;
}

static int add_image(struct dl_phdr_info *info, size_t size, void *data) {
  struct tables *to = data;
  (void)size;
  struct image image = {.bias = info->dlpi_addr, .start = UINT64_MAX};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uint64_t at = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD) {
      image.start = at < image.start ? at : image.start;
      image.end = at + segment->p_memsz > image.end ? at + segment->p_memsz : image.end;
    } else if (segment->p_type == PT_GNU_EH_FRAME) {
      image.header = at;
    }
  }
  const char *name = strrchr(info->dlpi_name, '/');
  image.ours = name && strcmp(name, "/libmdlagent.so") == 0;
  to->additions = info->dlpi_adds;
  to->removals = info->dlpi_subs;
  if (image.start < image.end && to->images < IMAGES) {
    to->image[to->images++] = image;
  }
  return 0;
}

static int by_start(const void *a, const void *b) {
  const struct image *one = a, *other = b;
  return one->start < other->start ? -1 : one->start > other->start;
}

bool unwinder_refresh(void) {
  if (owner != process_pid) {
    void *made = own_memory_map(NULL, sizeof *tables, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, STAYS);
    tables = made == MAP_FAILED ? NULL : made;
    owner = process_pid;
  }
  if (!tables) {
    return false;
  }
  if (next()->dl_iterate_phdr(compare_images, tables) == 1) {
    return false;
  }
  tables->images = 0;
  next()->dl_iterate_phdr(add_image, tables);
  qsort(tables->image, tables->images, sizeof *tables->image, by_start);
  for (size_t i = 0; i < ROWS; i++) {
    tables->row[i].address = 0;
  }
  return true;
}

static const struct image *image_at(uint64_t address) {
  size_t from = 0, to = tables->images;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (tables->image[middle].start <= address) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  const struct image *found = from > 0 ? &tables->image[from - 1] : NULL;
  return found && address < found->end ? found : NULL;
}

/* ---- rows */

static const struct row *row_at(uint64_t address) {
  struct row *row = &tables->row[(address * 0x9E3779B97F4A7C15) >> 32 & (ROWS - 1)];
  if (row->address == address) {
    return row;
  }
  uint64_t header = unwind_header(address);
  const struct image *image = header ? NULL : image_at(address);
  row->address = address;
  row->ours = header || (image && image->ours);
  row->bias = image ? image->bias : 0;
  header = image ? image->header : header;
  row->cfi.start = 0;
  row->described = header && cfi_find(header, address, program_memory, &row->cfi);
  struct cfi_rule *cfa = &row->cfi.cfa;
  if (row->described && cfa->kind == CFI_VAL_EXPRESSION && cfa->length <= COPIED_EXPRESSION) {
    row->described = program_memory((uint64_t)cfa->value, row->expression, cfa->length);
  }
  return row;
}

/* ---- a path */

struct walk {
  const struct stack_sample *sample;
  uint64_t registers[CFI_REGISTERS];
  bool returned; /* the address is a return address, not the next instruction */
  bool searched; /* for a frame pointer: one gives those of its callers */
};

static bool stack_word(const struct walk *walk, uint64_t at, uint64_t *value) {
  uint64_t offset = at - walk->sample->registers[CFI_RSP];
  if (walk->sample->length < sizeof *value || offset > walk->sample->length - sizeof *value) {
    return false;
  }
  memcpy(value, walk->sample->bytes + offset, sizeof *value);
  return true;
}

static bool expression_word(const void *walk, uint64_t at, uint64_t *value) { return stack_word(walk, at, value); }

static bool find_cfa(const struct walk *walk, const struct row *row, uint64_t *cfa) {
  const struct cfi_rule *rule = &row->cfi.cfa;
  if (rule->kind == CFI_VAL_OFFSET) {
    *cfa = walk->registers[rule->base] + (uint64_t)rule->value;
    return true;
  }
  struct cfi_rule copied = {.value = (int64_t)(uintptr_t)row->expression, .length = rule->length};
  bool is_copied = rule->length <= COPIED_EXPRESSION;
  return cfi_evaluate(is_copied ? &copied : rule, NULL, walk->registers, is_copied ? own_memory : program_memory, expression_word, walk,
                      cfa);
}

static bool find_register(const struct walk *walk, const struct cfi_rule *rule, uint64_t cfa, uint64_t *value) {
  uint64_t at = 0;
  switch (rule->kind) {
  case CFI_OFFSET:
    return stack_word(walk, cfa + (uint64_t)rule->value, value);
  case CFI_VAL_OFFSET:
    *value = cfa + (uint64_t)rule->value;
    return true;
  case CFI_REGISTER:
    *value = walk->registers[rule->value];
    return true;
  case CFI_EXPRESSION:
    return cfi_evaluate(rule, &cfa, walk->registers, program_memory, expression_word, walk, &at) && stack_word(walk, at, value);
  case CFI_VAL_EXPRESSION:
    return cfi_evaluate(rule, &cfa, walk->registers, program_memory, expression_word, walk, value);
  default: /* registers that the caller has lost are not needed */
    return true;
  }
}

/* Steps to the caller. */
static bool step(struct walk *walk, const struct row *row) {
  uint64_t cfa;
  if (!find_cfa(walk, row, &cfa)) {
    return false;
  }
  uint64_t callers[CFI_REGISTERS];
  memcpy(callers, walk->registers, sizeof callers);
  callers[CFI_RSP] = cfa;
  for (int i = 0; i < CFI_REGISTERS; i++) {
    /* In an epilogue, a popped register may still be described as saved, below the copied stack: it keeps its value. */
    bool found = find_register(walk, &row->cfi.registers[i], cfa, &callers[i]);
    if (!found && (i == CFI_RETURN || i == CFI_RSP)) {
      return false;
    }
  }
  bool goes_on = callers[CFI_RSP] > walk->registers[CFI_RSP] || row->cfi.signal;
  memcpy(walk->registers, callers, sizeof callers);
  return goes_on;
}

/* ---- frame pointers */

static bool is_direct_call(uint64_t next, uint64_t *target) {
  uint8_t call[5];
  int32_t distance;
  if (!program_memory(next - sizeof call, call, sizeof call) || call[0] != 0xE8) {
    return false;
  }
  memcpy(&distance, call + 1, sizeof distance);
  *target = next + (uint64_t)(int64_t)distance;
  return true;
}

/* FF /2: of 2 to 7 bytes, by its ModRM and SIB bytes. */
static bool is_indirect_call(uint64_t next) {
  uint8_t code[7];
  if (!program_memory(next - sizeof code, code, sizeof code)) {
    return false;
  }
  for (size_t length = 2; length <= sizeof code; length++) {
    const uint8_t *at = code + sizeof code - length;
    uint8_t mode = at[1] >> 6, base = at[1] & 7;
    if (at[0] == 0xFF && (at[1] >> 3 & 7) == 2) {
      size_t sib = mode != 3 && base == 4;
      size_t displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && (base == 5 || (sib && (at[2] & 7) == 5))) ? 4 : 0;
      if (length == 2 + sib + displacement) {
        return true;
      }
    }
  }
  return false;
}

/* An entry of a procedure linkage table: jmp *address(%rip), after endbr64 or with the bnd prefix. */
static bool is_linkage_stub(uint64_t address) {
  static const uint8_t endbr64[] = {0xF3, 0x0F, 0x1E, 0xFA};
  uint8_t code[7];
  size_t skipped = program_memory(address, code, sizeof code) && memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
  if (!program_memory(address + skipped, code, sizeof code)) {
    return false;
  }
  const uint8_t *jump = code[0] == 0xF2 ? code + 1 : code;
  return jump[0] == 0xFF && jump[1] == 0x25;
}

/* Whether code that starts at `start` may return to `address`: a call before it may lead there. */
static bool may_return_to(uint64_t address, uint64_t start) {
  uint64_t target;
  if (unwind_header(address - 1)) {
    return true; /* a trampoline, which calls the function that it records */
  }
  if (!image_at(address - 1)) {
    return false;
  }
  if (is_direct_call(address, &target)) {
    return target == start || unwind_header(target) || is_linkage_stub(target);
  }
  return is_indirect_call(address);
}

static size_t go_on(struct walk *walk, struct stack_frame *frames, size_t count, size_t capacity, enum stack_end *end);

/* The frame pointer is unknown: takes the first with which the walk reaches the thread's first function. */
static size_t search_frame_pointer(const struct walk *walk, const struct row *row, struct stack_frame *frames, size_t count,
                                   size_t capacity, enum stack_end *end) {
  enum { ALIGNMENT = 16 }; /* of canonical frame addresses, below which the return address is */
  uint64_t address, cfa = (walk->registers[CFI_RSP] / ALIGNMENT + 1) * ALIGNMENT;
  for (; stack_word(walk, cfa - sizeof address, &address); cfa += ALIGNMENT) {
    if (address && may_return_to(address, row->cfi.start)) {
      struct walk tried = *walk;
      tried.searched = true;
      tried.registers[CFI_RBP] = cfa - (uint64_t)row->cfi.cfa.value;
      if (step(&tried, row)) {
        size_t found = go_on(&tried, frames, count, capacity, end);
        if (*end == STACK_WHOLE) {
          return found;
        }
      }
    }
  }
  *end = STACK_CUT;
  return count;
}

/* ---- the walk */

static size_t go_on(struct walk *walk, struct stack_frame *frames, size_t count, size_t capacity, enum stack_end *end) {
  *end = STACK_UNKNOWN;
  for (size_t steps = 0; steps < 2 * capacity; steps++) {
    uint64_t address = walk->registers[CFI_RETURN] - walk->returned;
    if (walk->registers[CFI_RETURN] == 0) {
      *end = STACK_WHOLE;
      return count;
    }
    const struct row *row = row_at(address);
    if (count == 0 || !row->ours) {
      if (count == capacity) {
        break;
      }
      frames[count++] = (struct stack_frame){
          .address = address, .start = row->described ? row->cfi.start : 0, .bias = row->bias, .ours = row->ours};
    }
    if (!row->described) {
      return count;
    }
    if (row->cfi.registers[CFI_RETURN].kind == CFI_UNDEFINED) {
      *end = STACK_WHOLE;
      return count;
    }
    walk->returned = !row->cfi.signal;
    bool by_frame_pointer = row->cfi.cfa.kind == CFI_VAL_OFFSET && row->cfi.cfa.base == CFI_RBP;
    if (by_frame_pointer && walk->sample->few && !walk->searched && walk->registers[CFI_RBP] == 0) {
      struct row kept = *row; /* the cache may replace it meanwhile */
      return search_frame_pointer(walk, &kept, frames, count, capacity, end);
    }
    if (!step(walk, row)) {
      break;
    }
  }
  *end = STACK_CUT;
  return count;
}

size_t unwinder_walk(const struct stack_sample *sample, struct stack_frame *frames, size_t capacity, enum stack_end *end) {
  struct walk walk = {.sample = sample};
  memcpy(walk.registers, sample->registers, sizeof walk.registers);
  *end = STACK_UNKNOWN;
  return tables ? go_on(&walk, frames, 0, capacity, end) : 0;
}
