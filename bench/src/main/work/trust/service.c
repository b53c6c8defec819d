/* A service of two workers with a lock, a function that is rarely slow, and one with a tail. */
#include "truth.h"

enum { WORKERS = 2, TABLE = 4096, LOOKUPS = 20, HASHES = 40, RARE = 1000, HEAVY = 100, WORDS = 512 };
enum { HANDLE, PARSE, LOOKUP, HASH, COMPRESS, UPDATE, LOG, FUNCTIONS };

static uint64_t table[TABLE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double seconds;
volatile uint64_t sink;

/* Some 30 ns. */
NOINLINE static uint64_t hash_key(uint64_t x) {
  TIMED(HASH);
  x = spun(x, 10);
  return x;
}

NOINLINE static uint64_t lookup(uint64_t key) {
  TIMED(LOOKUP);
  uint64_t found = 0;
  for (int i = 0; i < 40; i++) {
    key = spun(key, 1);
    found += table[key % TABLE];
  }
  return found;
}

NOINLINE static uint64_t parse_request(uint64_t x) {
  TIMED(PARSE);
  x = spun(x, 100);
  return x;
}

/* One call in a hundred takes twenty times as long. */
NOINLINE static uint64_t compress_body(uint64_t x) {
  TIMED(COMPRESS);
  int words = x % HEAVY == 0 ? 20 * WORDS : WORDS;
  x = spun(x, words * 10);
  return x;
}

NOINLINE static void update_state(uint64_t x) {
  TIMED(UPDATE);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 300; i++) {
    table[(x + (uint64_t)i) % TABLE] += x;
    x = spun(x, 1);
  }
  pthread_mutex_unlock(&lock);
}

/* One in a thousand waits for the disk. */
NOINLINE static void write_log(uint64_t x) {
  TIMED(LOG);
  sink = x;
  if (x % RARE == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

NOINLINE static uint64_t handle_request(uint64_t x) {
  TIMED(HANDLE);
  x = parse_request(x);
  for (int i = 0; i < LOOKUPS; i++) {
    x += lookup(x);
  }
  for (int i = 0; i < HASHES; i++) {
    x = hash_key(x);
  }
  x = compress_body(x);
  update_state(x);
  write_log(x);
  return x;
}

static void *work(void *seed) {
  truth_open();
  uint64_t x = (uint64_t)(uintptr_t)seed * 0x9e3779b97f4a7c15U + 1;
  while (truth_seconds() < seconds) {
    for (int i = 0; i < 100; i++) {
      x = handle_request(x) | 1;
    }
  }
  truth_close();
  return NULL;
}

int main(int count, char **arguments) {
  static const char *const names[FUNCTIONS] = {"handle_request", "parse_request", "lookup",   "hash_key",
                                               "compress_body",  "update_state",  "write_log"};
  seconds = truth_begin(count, arguments, names, FUNCTIONS);
  pthread_t workers[WORKERS];
  for (uintptr_t i = 0; i < WORKERS; i++) {
    pthread_create(&workers[i], NULL, work, (void *)(i + 1));
  }
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(workers[i], NULL);
  }
  truth_end(arguments[2]);
}
