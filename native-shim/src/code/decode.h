/* Instruction decoding with Zydis. See api.h. */
#ifndef MDL_DECODE_H
#define MDL_DECODE_H

#include <mdl/api.h>

int64_t decode_lengths(uint64_t code, int64_t length, uint8_t *lengths);
int64_t decode_one(uint64_t code, int64_t length, struct mdl_instruction *out);
int64_t decode_uses(uint64_t code, int64_t length);

#endif
