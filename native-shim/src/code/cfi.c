#include "code/cfi.h"

#include "code/cfi_bytes.h"

/* Longer descriptions are skipped: compilers' largest functions have a few kilobytes. */
enum { ENTRY_BYTES = 8192, REMEMBERED = 8, SEARCHED = 32 };

/* Pointer encodings: LSB core, 10.5.1. */
enum { ABSOLUTE = 0x00, UDATA4 = 0x03, UDATA8 = 0x04, SDATA4 = 0x0b, SDATA8 = 0x0c, FORMAT = 0x0f, RELATIVE_PC = 0x10,
       RELATIVE_DATA = 0x30, RELATION = 0x70 };

static uint64_t encoded(struct cursor *from, uint8_t encoding) {
  uint64_t at = address_of(from);
  uint64_t value;
  switch (encoding & FORMAT) {
  case ABSOLUTE:
  case UDATA8:
  case SDATA8:
    value = u64(from);
    break;
  case UDATA4:
    value = u32(from);
    break;
  case SDATA4:
    value = (uint64_t)(int64_t)(int32_t)u32(from);
    break;
  default:
    from->failed = true;
    return 0;
  }
  switch (encoding & RELATION) {
  case 0:
    return value;
  case RELATIVE_PC:
    return at + value;
  default:
    from->failed = true;
    return 0;
  }
}

/* ---- descriptions */

struct common {
  uint64_t code_factor;
  int64_t data_factor;
  uint64_t return_column;
  uint8_t pointers;
  bool augmented, signal;
  struct cursor instructions;
  uint8_t bytes[ENTRY_BYTES];
};

/* An entry of .eh_frame, after its length. */
static bool read_entry(uint64_t at, cfi_memory *memory, uint8_t bytes[ENTRY_BYTES], struct cursor *entry) {
  uint32_t length;
  if (!memory(at, &length, sizeof length) || length < sizeof length || length > ENTRY_BYTES ||
      !memory(at + sizeof length, bytes, length)) {
    return false;
  }
  *entry = (struct cursor){.next = bytes, .end = bytes + length, .address = at + sizeof length + length};
  return true;
}

static bool read_common(uint64_t at, cfi_memory *memory, struct common *common) {
  struct cursor entry;
  if (!read_entry(at, memory, common->bytes, &entry) || u32(&entry) != 0) {
    return false;
  }
  uint8_t version = u8(&entry);
  if (version != 1 && version != 3) {
    return false;
  }
  char letters[8];
  size_t count = 0;
  while ((letters[count] = (char)u8(&entry)) != 0) {
    if (++count == sizeof letters) {
      return false;
    }
  }
  common->code_factor = uleb(&entry);
  common->data_factor = sleb(&entry);
  common->return_column = version == 1 ? u8(&entry) : uleb(&entry);
  common->pointers = ABSOLUTE;
  common->signal = false;
  common->augmented = letters[0] == 'z';
  if (common->augmented) {
    uint64_t length = uleb(&entry);
    struct cursor data = entry;
    skip(&entry, length);
    for (size_t i = 1; i < count; i++) {
      switch (letters[i]) {
      case 'R':
        common->pointers = u8(&data);
        break;
      case 'P': {
        uint8_t encoding = u8(&data);
        encoded(&data, encoding & FORMAT); /* only its length matters, not its base */
        break;
      }
      case 'L':
        u8(&data);
        break;
      case 'S':
        common->signal = true;
        break;
      case 'B':
        break;
      default:
        return false;
      }
    }
    entry.failed |= data.failed;
  } else if (count > 0) {
    return false;
  }
  common->instructions = entry;
  return !entry.failed && common->return_column == CFI_RETURN;
}

/* ---- instructions */

struct machine {
  const struct common *common;
  struct cfi_row *row;
  const struct cfi_row *initial; /* NULL while the common instructions run */
  uint64_t location, until;
  int depth;
  struct cfi_row remembered[REMEMBERED];
};

static void set(struct machine *machine, uint64_t number, enum cfi_kind kind, int64_t value, uint16_t length) {
  if (number < CFI_REGISTERS) { /* others, such as vectors, are not needed to find the caller */
    machine->row->registers[number] = (struct cfi_rule){.kind = (uint8_t)kind, .value = value, .length = length};
  }
}

static void restore(struct machine *machine, uint64_t number) {
  if (number < CFI_REGISTERS && machine->initial) {
    machine->row->registers[number] = machine->initial->registers[number];
  }
}

static bool define_cfa(struct machine *machine, uint64_t base, int64_t offset) {
  machine->row->cfa = (struct cfi_rule){.kind = CFI_VAL_OFFSET, .base = (uint8_t)base, .value = offset};
  return base < CFI_REGISTERS;
}

/* The address and length of the next expression. */
static bool block(struct cursor *from, int64_t *at, uint16_t *length) {
  uint64_t bytes = uleb(from);
  *at = (int64_t)address_of(from);
  *length = (uint16_t)bytes;
  skip(from, bytes);
  return bytes <= EXPRESSION_BYTES;
}

static bool expression(struct machine *machine, struct cursor *from, enum cfi_kind kind) {
  uint64_t number = uleb(from);
  int64_t at;
  uint16_t length;
  bool sound = block(from, &at, &length);
  set(machine, number, kind, at, length);
  return sound;
}

static bool extended(struct machine *machine, uint8_t opcode, struct cursor *from) {
  int64_t factor = machine->common->data_factor;
  struct cfi_rule *cfa = &machine->row->cfa;
  uint64_t number;
  switch (opcode) {
  case 0x00: /* nop */
    return true;
  case 0x01: /* set_loc */
    machine->location = encoded(from, machine->common->pointers);
    return true;
  case 0x02: /* advance_loc1, 2, 4 */
    machine->location += u8(from) * machine->common->code_factor;
    return true;
  case 0x03:
    machine->location += u16(from) * machine->common->code_factor;
    return true;
  case 0x04:
    machine->location += u32(from) * machine->common->code_factor;
    return true;
  case 0x05: /* offset_extended */
    number = uleb(from);
    set(machine, number, CFI_OFFSET, (int64_t)uleb(from) * factor, 0);
    return true;
  case 0x06: /* restore_extended */
    restore(machine, uleb(from));
    return true;
  case 0x07: /* undefined */
    set(machine, uleb(from), CFI_UNDEFINED, 0, 0);
    return true;
  case 0x08: /* same_value */
    set(machine, uleb(from), CFI_SAME, 0, 0);
    return true;
  case 0x09: { /* register */
    number = uleb(from);
    uint64_t other = uleb(from);
    set(machine, number, CFI_REGISTER, (int64_t)other, 0);
    return other < CFI_REGISTERS;
  }
  case 0x0a: /* remember_state */
    if (machine->depth == REMEMBERED) {
      return false;
    }
    machine->remembered[machine->depth++] = *machine->row;
    return true;
  case 0x0b: /* restore_state */
    if (machine->depth == 0) {
      return false;
    }
    *machine->row = machine->remembered[--machine->depth];
    return true;
  case 0x0c: /* def_cfa */
    number = uleb(from);
    return define_cfa(machine, number, (int64_t)uleb(from));
  case 0x0d: /* def_cfa_register */
    return cfa->kind == CFI_VAL_OFFSET && define_cfa(machine, uleb(from), cfa->value);
  case 0x0e: /* def_cfa_offset */
    return cfa->kind == CFI_VAL_OFFSET && define_cfa(machine, cfa->base, (int64_t)uleb(from));
  case 0x0f: /* def_cfa_expression */
    *cfa = (struct cfi_rule){.kind = CFI_VAL_EXPRESSION};
    return block(from, &cfa->value, &cfa->length);
  case 0x10: /* expression */
    return expression(machine, from, CFI_EXPRESSION);
  case 0x11: /* offset_extended_sf */
    number = uleb(from);
    set(machine, number, CFI_OFFSET, sleb(from) * factor, 0);
    return true;
  case 0x12: /* def_cfa_sf */
    number = uleb(from);
    return define_cfa(machine, number, sleb(from) * factor);
  case 0x13: /* def_cfa_offset_sf */
    return cfa->kind == CFI_VAL_OFFSET && define_cfa(machine, cfa->base, sleb(from) * factor);
  case 0x14: /* val_offset */
    number = uleb(from);
    set(machine, number, CFI_VAL_OFFSET, (int64_t)uleb(from) * factor, 0);
    return true;
  case 0x15: /* val_offset_sf */
    number = uleb(from);
    set(machine, number, CFI_VAL_OFFSET, sleb(from) * factor, 0);
    return true;
  case 0x16: /* val_expression */
    return expression(machine, from, CFI_VAL_EXPRESSION);
  case 0x2e: /* GNU_args_size */
    uleb(from);
    return true;
  default:
    return false;
  }
}

/* Runs up to the row that applies at `until`. */
static bool run(struct machine *machine, struct cursor instructions) {
  while (instructions.next < instructions.end && machine->location <= machine->until) {
    uint8_t opcode = u8(&instructions);
    uint8_t operand = opcode & 0x3f;
    switch (opcode >> 6) {
    case 1: /* advance_loc */
      machine->location += operand * machine->common->code_factor;
      break;
    case 2: /* offset */
      set(machine, operand, CFI_OFFSET, (int64_t)uleb(&instructions) * machine->common->data_factor, 0);
      break;
    case 3: /* restore */
      restore(machine, operand);
      break;
    default:
      if (!extended(machine, opcode, &instructions)) {
        return false;
      }
    }
    if (instructions.failed) {
      return false;
    }
  }
  return true;
}

/* ---- the search table of .eh_frame_hdr: version, three encodings, address of .eh_frame, count, then pairs of a range's
 * start and its description, as offsets from the header. All linkers, and UnwindTable, write this form. */

struct pair {
  int32_t start, description;
};

static bool search(uint64_t header, uint64_t address, cfi_memory *memory, uint64_t *description) {
  struct {
    uint8_t version, frames_encoding, count_encoding, table_encoding;
    int32_t frames;
    uint32_t count;
  } head;
  if (!memory(header, &head, sizeof head) || head.version != 1 || head.count_encoding != UDATA4 ||
      head.table_encoding != (RELATIVE_DATA | SDATA4) || (head.frames_encoding & FORMAT) != SDATA4) {
    return false;
  }
  int64_t wanted = (int64_t)(address - header);
  uint64_t table = header + sizeof head;
  uint32_t from = 0, to = head.count;
  struct pair pairs[SEARCHED];
  while (to - from > SEARCHED) {
    uint32_t middle = from + (to - from) / 2;
    if (!memory(table + middle * sizeof *pairs, pairs, sizeof *pairs)) {
      return false;
    }
    *(pairs->start <= wanted ? &from : &to) = middle;
  }
  if (!memory(table + from * sizeof *pairs, pairs, (to - from) * sizeof *pairs)) {
    return false;
  }
  uint32_t found = to - from;
  while (found > 0 && pairs[found - 1].start > wanted) {
    found--;
  }
  if (found == 0) {
    return false;
  }
  *description = header + (uint64_t)(int64_t)pairs[found - 1].description;
  return true;
}

bool cfi_find(uint64_t header, uint64_t address, cfi_memory *memory, struct cfi_row *row) {
  /* Static: only the agent's thread uses it, and its stack may be small. */
  static struct common common;
  static uint8_t bytes[ENTRY_BYTES];
  static struct machine machine;
  static struct cfi_row initial;
  uint64_t at;
  struct cursor entry;
  if (!search(header, address, memory, &at) || !read_entry(at, memory, bytes, &entry)) {
    return false;
  }
  uint64_t id_at = address_of(&entry);
  uint32_t distance = u32(&entry);
  if (distance == 0 || !read_common(id_at - distance, memory, &common)) {
    return false;
  }
  uint64_t start = encoded(&entry, common.pointers);
  uint64_t length = encoded(&entry, common.pointers & FORMAT);
  if (common.augmented) {
    skip(&entry, uleb(&entry));
  }
  if (entry.failed || address - start >= length) {
    return false;
  }
  *row = (struct cfi_row){.cfa = {.kind = CFI_UNDEFINED}, .start = start, .signal = common.signal};
  machine = (struct machine){.common = &common, .row = row, .location = 0, .until = UINT64_MAX};
  if (!run(&machine, common.instructions)) {
    return false;
  }
  initial = *row;
  machine.initial = &initial;
  machine.location = start;
  machine.until = address;
  return run(&machine, entry) && row->cfa.kind != CFI_UNDEFINED;
}
