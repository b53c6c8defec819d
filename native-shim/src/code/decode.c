#include "code/decode.h"

#include "os/library.h"
#include "session/log.h"

#include <Zydis/Decoder.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef ZyanStatus (*decoder_init)(ZydisDecoder *, ZydisMachineMode, ZydisStackWidth);
typedef ZyanStatus (*decoder_enable_mode)(ZydisDecoder *, ZydisDecoderMode, ZyanBool);
typedef ZyanStatus (*decode_instruction)(const ZydisDecoder *, ZydisDecoderContext *, const void *, ZyanUSize,
                                         ZydisDecodedInstruction *);

typedef ZyanStatus (*decode_operands)(const ZydisDecoder *, const ZydisDecoderContext *, const ZydisDecodedInstruction *,
                                     ZydisDecodedOperand *, ZyanU8);

static decode_instruction instruction_at; /* NULL: no decoder found */
static decode_operands operands_of;
static ZydisDecoder length_decoder;       /* finds instruction boundaries only */
static ZydisDecoder full_decoder;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

/* Beside libmdlagent.so first: a loaded library satisfies later dependencies of the same name. */
static void *load(const char *name) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", library_directory, name);
  void *library = NULL;
  if (library_directory[0] && length > 0 && (size_t)length < sizeof path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void load_decoder(void) {
  load("libZycore.so.1.4");
  void *library = load("libZydis.so.4.0");
  if (!library) {
    log_line("no instruction decoder: ", dlerror(), NULL);
    return;
  }
  decoder_init init;
  decoder_enable_mode enable_mode;
  decode_instruction instruction;
  *(void **)&init = dlsym(library, "ZydisDecoderInit");
  *(void **)&enable_mode = dlsym(library, "ZydisDecoderEnableMode");
  *(void **)&instruction = dlsym(library, "ZydisDecoderDecodeInstruction");
  decode_operands operands;
  *(void **)&operands = dlsym(library, "ZydisDecoderDecodeOperands");
  if (!init || !enable_mode || !instruction || !operands ||
      !ZYAN_SUCCESS(init(&full_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(init(&length_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(enable_mode(&length_decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE))) {
    log_line("no instruction decoder: libZydis.so.4.0 is damaged or of another version", NULL);
    return;
  }
  operands_of = operands;
  instruction_at = instruction;
}

static bool has_decoder(void) {
  pthread_once(&loaded, load_decoder);
  return instruction_at;
}

int64_t decode_lengths(uint64_t code, int64_t length, uint8_t *lengths) {
  if (!has_decoder()) {
    return -ENOSYS;
  }
  memset(lengths, 0, (size_t)length);
  int64_t at = 0;
  while (at < length) {
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(instruction_at(&length_decoder, NULL, (const void *)(code + (uint64_t)at),
                                     (ZyanUSize)(length - at), &instruction))) {
      break;
    }
    lengths[at] = instruction.length;
    at += instruction.length;
  }
  return at;
}

static bool has_prefix(const ZydisDecodedInstruction *instruction, uint8_t value) {
  for (int i = 0; i < instruction->raw.prefix_count; i++) {
    if (instruction->raw.prefixes[i].value == value) {
      return true;
    }
  }
  return false;
}

/* With an operand-size prefix and no REX.W, AMD's processors truncate the instruction pointer and the displacement;
 * Intel's ignore the prefix. No compiler emits either. */
static bool is_ambiguous_branch(const ZydisDecodedInstruction *instruction) {
  bool branch = instruction->raw.imm[0].is_relative || instruction->meta.category == ZYDIS_CATEGORY_CALL;
  return branch && has_prefix(instruction, 0x66) && !instruction->raw.rex.W;
}

static enum mdl_instruction_kind branch_kind(const ZydisDecodedInstruction *instruction) {
  switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return MDL_CALL;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return MDL_JUMP;
    default:
      break;
  }
  if (instruction->mnemonic == ZYDIS_MNEMONIC_XBEGIN) {
    return MDL_TRANSACTION;
  }
  bool counted = instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (instruction->opcode & 0xF0) == 0xE0;
  return counted ? MDL_COUNTED_JUMP : MDL_CONDITIONAL_JUMP;
}

static bool falls_through(const ZydisDecodedInstruction *instruction) {
  switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return false;
    case ZYDIS_MNEMONIC_XABORT: /* Zydis treats it as an unconditional branch */
      return true;
    default:
      return instruction->meta.category != ZYDIS_CATEGORY_UNCOND_BR && instruction->meta.category != ZYDIS_CATEGORY_RET;
  }
}

int64_t decode_one(uint64_t code, int64_t length, struct mdl_instruction *out) {
  ZydisDecodedInstruction instruction;
  if (!has_decoder()) {
    return -ENOSYS;
  }
  if (length <= 0 ||
      !ZYAN_SUCCESS(instruction_at(&full_decoder, NULL, (const void *)code, (ZyanUSize)length, &instruction)) ||
      is_ambiguous_branch(&instruction)) {
    return -EILSEQ;
  }
  bool legacy = instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  *out = (struct mdl_instruction){.length = instruction.length,
                                  .kind = MDL_PLAIN,
                                  .opcode = instruction.opcode,
                                  .opcode_map = legacy ? (uint8_t)instruction.opcode_map : 0xFF,
                                  .falls_through = falls_through(&instruction)};
  bool rip_relative = instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM && instruction.raw.modrm.mod == 0 &&
                      instruction.raw.modrm.rm == 5 && instruction.raw.disp.size == 32;
  bool call = instruction.meta.category == ZYDIS_CATEGORY_CALL;
  uint64_t next = code + instruction.length;
  if (instruction.raw.imm[0].is_relative) {
    out->kind = (uint8_t)branch_kind(&instruction);
    out->relative_at = instruction.raw.imm[0].offset;
    out->relative_size = instruction.raw.imm[0].size / 8;
    out->target = next + instruction.raw.imm[0].value.u;
  } else if ((call && instruction.raw.modrm.reg == 3) || (rip_relative && instruction.address_width == 32)) {
    out->kind = MDL_BOUND;
  } else if (call || rip_relative) {
    out->kind = call ? MDL_INDIRECT_CALL : MDL_RIP_RELATIVE;
    if (rip_relative) {
      out->relative_at = instruction.raw.disp.offset;
      out->relative_size = sizeof(int32_t);
      out->target = next + (uint64_t)instruction.raw.disp.value;
    }
  }
  return instruction.length;
}

/* ---- registers and flags */

enum { ALL_REGISTERS = 0xFFFF, ALL_FLAGS = 0x3F };

struct uses {
  uint32_t reads, writes;
};

/* The number of a general register, or -1; `whole`: 32 or 64 bits of it, so that a write leaves nothing of its old value. */
static int general(ZydisRegister name, bool *whole) {
  static const struct {
    ZydisRegister first, last;
    int number;
  } classes[] = {{ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, 0},    {ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, 0},
                 {ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, 4}, {ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, 0},
                 {ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, 0}, {ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, 0}};
  *whole = name >= ZYDIS_REGISTER_EAX;
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    if (name >= classes[i].first && name <= classes[i].last) {
      return (int)(name - classes[i].first) + classes[i].number;
    }
  }
  return -1;
}

static void use(ZydisRegister name, ZydisOperandActions actions, struct uses *uses) {
  bool whole;
  int number = general(name, &whole);
  if (number >= 0) {
    bool overwritten = whole && (actions & ZYDIS_OPERAND_ACTION_WRITE) && !(actions & ZYDIS_OPERAND_ACTION_MASK_READ);
    *(overwritten ? &uses->writes : &uses->reads) |= 1U << number;
  }
}

static uint32_t flags_of(ZydisAccessedFlagsMask mask) {
  return (mask & ZYDIS_CPUFLAG_CF ? 1U : 0) | (mask & ZYDIS_CPUFLAG_PF ? 2U : 0) | (mask & ZYDIS_CPUFLAG_AF ? 4U : 0) |
         (mask & ZYDIS_CPUFLAG_ZF ? 8U : 0) | (mask & ZYDIS_CPUFLAG_SF ? 16U : 0) | (mask & ZYDIS_CPUFLAG_OF ? 32U : 0);
}

/* A count of 0 in CL leaves the flags; so does a repetition of nothing. */
static bool may_leave_flags(const ZydisDecodedInstruction *instruction) {
  bool by_cl = instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (instruction->opcode & 0xFE) == 0xD2;
  bool double_by_cl = instruction->opcode_map == ZYDIS_OPCODE_MAP_0F && (instruction->opcode & 0xF7) == 0xA5;
  return by_cl || double_by_cl || has_prefix(instruction, 0xF2) || has_prefix(instruction, 0xF3);
}

static bool is_opaque(const ZydisDecodedInstruction *instruction) {
  switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_FLAGOP:
      return true;
    default:
      return instruction->mnemonic == ZYDIS_MNEMONIC_PUSHFQ || instruction->mnemonic == ZYDIS_MNEMONIC_PUSHF;
  }
}

int64_t decode_uses(uint64_t code, int64_t length) {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!has_decoder()) {
    return -ENOSYS;
  }
  if (length <= 0 ||
      !ZYAN_SUCCESS(instruction_at(&full_decoder, &context, (const void *)code, (ZyanUSize)length, &instruction)) ||
      !ZYAN_SUCCESS(operands_of(&full_decoder, &context, &instruction, operands, instruction.operand_count))) {
    return -EILSEQ;
  }
  struct uses uses = {0};
  for (int i = 0; i < instruction.operand_count; i++) {
    const ZydisDecodedOperand *operand = &operands[i];
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
      use(operand->reg.value, operand->actions, &uses);
    } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
      use(operand->mem.base, ZYDIS_OPERAND_ACTION_READ, &uses);
      use(operand->mem.index, ZYDIS_OPERAND_ACTION_READ, &uses);
    }
  }
  const ZydisAccessedFlags *flags = instruction.cpu_flags;
  uint32_t tested = flags_of(flags->tested);
  uint32_t changed = flags_of(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
  if (is_opaque(&instruction)) {
    uses = (struct uses){.reads = ALL_REGISTERS};
    tested = ALL_FLAGS;
  }
  if (may_leave_flags(&instruction)) {
    changed = 0;
  }
  return (int64_t)(uses.reads | (uint64_t)uses.writes << 16 | (uint64_t)tested << 32 | (uint64_t)changed << 40);
}
