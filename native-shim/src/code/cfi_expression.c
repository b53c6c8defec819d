/* DWARF expressions: the part of DWARF 5, section 2.5, that call frames use. */
#include "code/cfi.h"
#include "code/cfi_bytes.h"

enum { STACK_DEPTH = 32, EXPRESSION_STEPS = 1000 };

static uint64_t combined(uint8_t opcode, uint64_t a, uint64_t b) {
  int64_t signed_a = (int64_t)a, signed_b = (int64_t)b;
  switch (opcode) {
  case 0x1a:
    return a & b;
  case 0x1c:
    return a - b;
  case 0x1e:
    return a * b;
  case 0x21:
    return a | b;
  case 0x22:
    return a + b;
  case 0x24:
    return b < 64 ? a << b : 0;
  case 0x25:
    return b < 64 ? a >> b : 0;
  case 0x26:
    return (uint64_t)(signed_a >> (b < 64 ? b : 63));
  case 0x27:
    return a ^ b;
  case 0x29:
    return signed_a == signed_b;
  case 0x2a:
    return signed_a >= signed_b;
  case 0x2b:
    return signed_a > signed_b;
  case 0x2c:
    return signed_a <= signed_b;
  case 0x2d:
    return signed_a < signed_b;
  default:
    return signed_a != signed_b;
  }
}

bool cfi_evaluate(const struct cfi_rule *rule, const uint64_t *initial, const uint64_t values[CFI_REGISTERS], cfi_memory *memory,
                  bool (*word)(const void *context, uint64_t at, uint64_t *value), const void *context, uint64_t *result) {
  uint8_t bytes[EXPRESSION_BYTES];
  uint64_t stack[STACK_DEPTH + 1];
  int depth = 0;
  if (rule->length > EXPRESSION_BYTES || !memory((uint64_t)rule->value, bytes, rule->length)) {
    return false;
  }
  struct cursor code = {.next = bytes, .end = bytes + rule->length};
  if (initial) {
    stack[depth++] = *initial;
  }
  for (int steps = 0; code.next < code.end; steps++) {
    uint8_t opcode = u8(&code);
    bool is_binary = opcode == 0x1a || opcode == 0x1c || opcode == 0x1e || (opcode >= 0x21 && opcode <= 0x27 && opcode != 0x23) ||
                     (opcode >= 0x29 && opcode <= 0x2e);
    int needed = is_binary || opcode == 0x16 ? 2 : opcode == 0x06 || opcode == 0x12 || opcode == 0x13 || opcode == 0x23 ? 1 : 0;
    if (steps == EXPRESSION_STEPS || depth < needed || depth == STACK_DEPTH) {
      return false;
    }
    uint64_t *top = stack + depth - 1;
    if (opcode >= 0x30 && opcode <= 0x4f) { /* lit0 to lit31 */
      stack[depth++] = opcode - 0x30u;
    } else if (opcode >= 0x70 && opcode < 0x70 + CFI_REGISTERS) { /* breg */
      stack[depth++] = values[opcode - 0x70] + (uint64_t)sleb(&code);
    } else if (is_binary) {
      depth--;
      top[-1] = combined(opcode, top[-1], *top);
    } else {
      uint64_t swapped;
      switch (opcode) {
      case 0x06: /* deref */
        if (!word(context, *top, top)) {
          return false;
        }
        break;
      case 0x08: /* const1u, 1s, 2u, 2s, 4u, 4s, 8u, 8s, u, s */
        stack[depth++] = u8(&code);
        break;
      case 0x09:
        stack[depth++] = (uint64_t)(int64_t)(int8_t)u8(&code);
        break;
      case 0x0a:
        stack[depth++] = u16(&code);
        break;
      case 0x0b:
        stack[depth++] = (uint64_t)(int64_t)(int16_t)u16(&code);
        break;
      case 0x0c:
        stack[depth++] = u32(&code);
        break;
      case 0x0d:
        stack[depth++] = (uint64_t)(int64_t)(int32_t)u32(&code);
        break;
      case 0x0e:
      case 0x0f:
        stack[depth++] = u64(&code);
        break;
      case 0x10:
        stack[depth++] = uleb(&code);
        break;
      case 0x11:
        stack[depth++] = (uint64_t)sleb(&code);
        break;
      case 0x12: /* dup */
        stack[depth++] = *top;
        break;
      case 0x13: /* drop */
        depth--;
        break;
      case 0x16: /* swap */
        swapped = *top;
        *top = top[-1];
        top[-1] = swapped;
        break;
      case 0x23: /* plus_uconst */
        *top += uleb(&code);
        break;
      case 0x96: /* nop */
        break;
      default:
        return false;
      }
    }
    if (code.failed) {
      return false;
    }
  }
  *result = depth > 0 ? stack[depth - 1] : 0;
  return depth > 0;
}
