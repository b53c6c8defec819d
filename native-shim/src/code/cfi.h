/*
 * Call frame information: how to find the caller's frame at an instruction (DWARF 5, section 6.4; LSB core, "Exception
 * Frames").
 *
 * Tables are in the memory of the unwound program, which may unmap them meanwhile: they are read through a function that may
 * fail, and their content is not trusted.
 */
#ifndef MDL_CFI_H
#define MDL_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF's numbers of x86-64's registers (System V ABI, figure 3.36). */
enum { CFI_RBP = 6, CFI_RSP = 7, CFI_RETURN = 16, CFI_REGISTERS = 17 };

/* Where the caller's value of a register is. */
enum cfi_kind {
  CFI_SAME,
  CFI_UNDEFINED,
  CFI_OFFSET,     /* in the word at CFA + value */
  CFI_VAL_OFFSET, /* CFA + value */
  CFI_REGISTER,   /* in register `value` */
  CFI_EXPRESSION, /* in the word at the result of the expression, of `length` bytes at address `value` */
  CFI_VAL_EXPRESSION
};

struct cfi_rule {
  int64_t value;
  uint16_t length;
  uint8_t kind;
  uint8_t base; /* if the CFA's rule is CFI_VAL_OFFSET: the register that it is relative to */
};

struct cfi_row {
  struct cfi_rule cfa;
  struct cfi_rule registers[CFI_REGISTERS];
  uint64_t start; /* of the described code range, usually a function */
  bool signal;    /* the frame interrupted by a signal: its address is the next instruction, not a return address */
};

/* Copies memory of the unwound program; false if it is not mapped. */
typedef bool cfi_memory(uint64_t at, void *to, size_t length);

/* The row of the instruction at `address`. `header`: address of its image's .eh_frame_hdr, which has a search table. False
 * if no usable row describes it. */
bool cfi_find(uint64_t header, uint64_t address, cfi_memory *memory, struct cfi_row *row);

/* Evaluates a DWARF expression. `initial`: pushed first. `values`: the registers; CFI_RETURN is the instruction's address.
 * `word` reads the words that it refers to. False if it cannot be evaluated. */
bool cfi_evaluate(const struct cfi_rule *rule, const uint64_t *initial, const uint64_t values[CFI_REGISTERS], cfi_memory *memory,
                  bool (*word)(const void *context, uint64_t at, uint64_t *value), const void *context, uint64_t *result);

#endif
