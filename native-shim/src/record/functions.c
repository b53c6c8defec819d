#include "record/functions.h"

#include "session/memory.h"

#include <stddef.h>

static struct mdl_function *look_up(uint64_t address) {
  const uint64_t *slots = (const uint64_t *)__atomic_load_n(&session->lookup, __ATOMIC_ACQUIRE);
  if (!slots) {
    return NULL;
  }
  uint64_t mask = session->lookup_mask;
  uint64_t slot = (((address >> 4) * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
  for (uint64_t tries = 0; tries <= mask; tries++, slot = (slot + 1) & mask) {
    struct mdl_function *function = (struct mdl_function *)__atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE);
    if (!function || function->address == address) {
      return function;
    }
  }
  return NULL;
}

struct mdl_function *record_identify(struct mdl_site *site, uint64_t address) {
  struct mdl_function *known = (struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  if (known->address == address) {
    return known;
  }
  struct mdl_function *found = look_up(address);
  if (!found || (__atomic_load_n(&site->flags, __ATOMIC_ACQUIRE) & MDL_VARIES)) {
    return found;
  }
  uint64_t expected = (uintptr_t)known;
  if (known->address != 0) {
    __atomic_fetch_or(&site->flags, MDL_VARIES, __ATOMIC_RELEASE);
    __atomic_store_n(&site->function, session->unknown_function, __ATOMIC_RELEASE);
  } else if (!__atomic_compare_exchange_n(&site->function, &expected, (uintptr_t)found, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED)) {
    return found; /* another thread was faster: the next call compares with its result */
  } else if (__atomic_load_n(&site->flags, __ATOMIC_ACQUIRE) & MDL_VARIES) {
    __atomic_store_n(&site->function, session->unknown_function, __ATOMIC_RELEASE); /* marked as shared meanwhile */
  }
  __atomic_fetch_add(&session->learned, 1, __ATOMIC_RELEASE);
  return found;
}
