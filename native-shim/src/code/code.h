/* Code mappings, stores to code, and the users of each site. */
#ifndef MDL_CODE_H
#define MDL_CODE_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stdint.h>

/* In each process that starts a session, before the session exists. */
void code_start(void);
int64_t code_copy(uint64_t start, uint64_t length, uint64_t alias);
int64_t code_show(uint64_t start, uint64_t length, uint64_t alias);
/* Alias of the first copy. */
uint64_t code_text_alias(void);
int64_t code_map(uint64_t at, uint64_t length);
/* Tells relatives where the code file is mapped; its descriptor, -1 if there is none. */
void code_tell(void);
int code_file(void);
/* In a relative, by its descriptor of the file: maps the agent's code memory, without text. False on failure. */
bool code_join(int file);
/*
 * Disconnects the alias: this process's later stores through it have no effect, so relatives that execute the same text
 * never execute what this process writes. Its own text stays, and follows the agent's stores. False on failure.
 */
bool code_let_go(void);
bool code_is_foreign(void); /* code_let_go() has run */
/* Replaces text by the copy at this offset of the file. */
int64_t code_put(uint64_t start, uint64_t length, int file, uint64_t offset);
int64_t code_sync_cores(void);
void code_switch_all_off(void);
bool code_is_recording(const struct mdl_site *site);
bool code_has_snippets(const struct mdl_site *site);
/* Whether the site has a client or snippets. */
bool code_has_user(const struct mdl_site *site);
/* The same, including the return that the site's code also sees. */
bool code_is_used(const struct mdl_site *site);
/* The recorder's steps of code.c's protocol: steps 1 and 2; step 2; the fence; step 3. */
void code_record(struct mdl_site *site, bool on);
void code_follow(const struct mdl_site *site);
void code_fence(void);
void code_confirm(const struct mdl_site *site);
void code_replace(uint64_t alias, uint64_t mask, uint64_t value);
void code_replace_all(const uint64_t (*stores)[3], int64_t n);
uint64_t code_wait_until(uint64_t tsc);

/* The only stores to code: one instruction of 1, 2, 4 or 8 bytes, at any alignment. */
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
