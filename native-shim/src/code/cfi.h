/*
 * Call frame information: how to find the caller's frame at an instruction (DWARF 5, section 6.4; LSB core, "Exception Frames").
 *
 * Tables lie in the memory of whoever is unwound, which may unmap them meanwhile: they are read through a function that may fail,
 * and nothing in them is trusted.
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
  CFI_EXPRESSION, /* in the word at what the expression says, of `length` bytes at address `value` */
  CFI_VAL_EXPRESSION
};

struct cfi_rule {
  int64_t value;
  uint16_t length;
  uint8_t kind;
  uint8_t base; /* of the CFA's rule, when that is CFI_VAL_OFFSET: the register that it is relative to */
};

struct cfi_row {
  struct cfi_rule cfa;
  struct cfi_rule registers[CFI_REGISTERS];
  uint64_t start; /* of the range of code that is described: a function's, as a rule */
  bool signal;    /* the frame of a signal handler's caller: its address is that of the next instruction, not of a call's end */
};

/* Copies memory of the unwound program; false where there is none. */
typedef bool cfi_memory(uint64_t at, void *to, size_t length);

/* The row of the instruction at `address`. `header`: address of the .eh_frame_hdr of its image, which has a search table. False when
 * no row describes it, or none that is understood. */
bool cfi_find(uint64_t header, uint64_t address, cfi_memory *memory, struct cfi_row *row);

/* What a DWARF expression comes to. `initial`: is on its stack; `values` are the registers, of which CFI_RETURN is the address.
 * `stack` reads the words that it refers to. False when that cannot be told. */
bool cfi_evaluate(const struct cfi_rule *rule, const uint64_t *initial, const uint64_t values[CFI_REGISTERS], cfi_memory *memory,
                  bool (*word)(const void *context, uint64_t at, uint64_t *value), const void *context, uint64_t *result);

#endif
