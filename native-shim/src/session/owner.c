#include "session/owner.h"

#include <errno.h>
#include <linux/futex.h>
#include <mdl/layout.h>
#include <pthread.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_mutex_t) == sizeof((struct mdl_thread *)NULL)->owner, "owner");

static pthread_mutex_t *mutex_of(uint64_t *owner) { return (pthread_mutex_t *)owner; }

void owner_create(uint64_t *owner) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex_of(owner), &attributes);
  pthread_mutexattr_destroy(&attributes);
}

bool owner_take(uint64_t *owner) {
  int error = pthread_mutex_trylock(mutex_of(owner));
  if (error == EOWNERDEAD) {
    error = pthread_mutex_consistent(mutex_of(owner));
  }
  return error == 0;
}

void owner_release(uint64_t *owner) { pthread_mutex_unlock(mutex_of(owner)); }

bool owner_is_gone(const uint64_t *owner) {
  uint32_t word = __atomic_load_n((const uint32_t *)owner, __ATOMIC_ACQUIRE);
  return word == 0 || (word & FUTEX_OWNER_DIED) != 0;
}

bool owner_is_self(const uint64_t *owner) {
  uint32_t word = __atomic_load_n((const uint32_t *)owner, __ATOMIC_RELAXED);
  return (word & FUTEX_TID_MASK) == (uint32_t)gettid();
}
