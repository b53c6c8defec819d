/* Mappings of code, the stores to it, and who wants a site on. */
#ifndef MDL_CODE_H
#define MDL_CODE_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stdint.h>

/* In each process that begins a session, before it is there. */
void code_start(void);
int64_t code_copy(uint64_t start, uint64_t length, uint64_t alias);
int64_t code_show(uint64_t start, uint64_t length, uint64_t alias);
/* Of the first copy. */
uint64_t code_text_alias(void);
int64_t code_map(uint64_t at, uint64_t length);
/* Where the file is in the address space, for relatives; its descriptor, -1 when it is not there. */
void code_tell(void);
int code_file(void);
/* In a relative, by the file's descriptor there: what the agent has mapped so far, but for text. False when it cannot be had. */
bool code_join(int file);
/*
 * From now on what this process stores by the alias changes nothing: for one whose relatives execute the same text, and are not to
 * execute what it writes. Its own text stays, and follows the agent's stores. False when it could not be done.
 */
bool code_let_go(void);
bool code_is_foreign(void); /* since then */
/* Puts a copy at this offset of the file in place of text. */
int64_t code_put(uint64_t start, uint64_t length, int file, uint64_t offset);
int64_t code_sync_cores(void);
int64_t code_toggle(const uint32_t *sites, int64_t n, int64_t on);
void code_switch_all_off(void);
bool code_is_recording(const struct mdl_site *site);
bool code_has_snippets(const struct mdl_site *site);
/* A client or snippets. */
bool code_has_user(const struct mdl_site *site);
/* The same, or at the return that the site's code sees too. */
bool code_is_used(const struct mdl_site *site);
/* Steps 1 and 2 for the recorder; step 2; what stands between; step 3. */
void code_record(struct mdl_site *site, bool on);
void code_follow(const struct mdl_site *site);
void code_fence(void);
void code_confirm(const struct mdl_site *site);
void code_replace(uint64_t alias, uint64_t mask, uint64_t value);
void code_replace_all(const uint64_t (*stores)[3], int64_t n);
uint64_t code_wait_until(uint64_t tsc);

/* The only stores to code: one instruction of 1, 2, 4 or 8 bytes, whatever the alignment. */
static inline void code_store(uint64_t alias, uint64_t value, int64_t size) {
  switch (size) {
    case 1: __asm__ volatile("movb %b1, (%0)" : : "r"(alias), "q"(value) : "memory"); break;
    case 2: __asm__ volatile("movw %w1, (%0)" : : "r"(alias), "r"(value) : "memory"); break;
    case 4: __asm__ volatile("movl %k1, (%0)" : : "r"(alias), "r"(value) : "memory"); break;
    case 8: __asm__ volatile("movq %1, (%0)" : : "r"(alias), "r"(value) : "memory"); break;
    default: break;
  }
}

#endif
