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

size_t unwinder_walk(const struct stack_sample *sample, struct stack_frame *frames, size_t capacity, enum stack_end *end) {
  struct walk walk = {.sample = sample};
  memcpy(walk.registers, sample->registers, sizeof walk.registers);
  size_t count = 0;
  *end = STACK_UNKNOWN;
  if (!tables) {
    return 0;
  }
  bool exact = true; /* the address is the next instruction, not a return address */
  for (size_t steps = 0; steps < 2 * capacity; steps++) {
    uint64_t address = walk.registers[CFI_RETURN] - !exact;
    if (walk.registers[CFI_RETURN] == 0) {
      *end = STACK_WHOLE;
      return count;
    }
    const struct row *row = row_at(address);
    if (steps == 0 || !row->ours) {
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
    exact = row->cfi.signal;
    if (!step(&walk, row)) {
      break;
    }
  }
  *end = STACK_CUT;
  return count;
}
