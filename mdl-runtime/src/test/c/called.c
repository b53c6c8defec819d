/* Threads deposit in accounts, as often as a line of stdin says, and metrics call `audit` meanwhile. It leaves nothing in
 * its registers as it was, and the program finds out whether the threads notice. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3
#define PROBED __attribute__((noinline, noclone))

static atomic_long audits, audited, words, inner;
static atomic_bool spoilt;

PROBED long check(long number) {
  __asm__ volatile("" : "+r"(number));
  atomic_fetch_add(&inner, 1);
  return number;
}

/* Metrics alone call it, with a word. */
__attribute__((used, noinline)) long audit(const char *word, long number) {
  _Alignas(16) volatile float aligned[4];
  __asm__ volatile("movaps %%xmm0, %0" : "=m"(aligned));
  __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm1, %%xmm1; pcmpeqd %%xmm2, %%xmm2; pcmpeqd %%xmm3, %%xmm3;"
                   "pcmpeqd %%xmm4, %%xmm4; pcmpeqd %%xmm5, %%xmm5; pcmpeqd %%xmm6, %%xmm6; pcmpeqd %%xmm7, %%xmm7;"
                   "pcmpeqd %%xmm8, %%xmm8; pcmpeqd %%xmm9, %%xmm9; pcmpeqd %%xmm10, %%xmm10; pcmpeqd %%xmm11, %%xmm11;"
                   "pcmpeqd %%xmm12, %%xmm12; pcmpeqd %%xmm13, %%xmm13; pcmpeqd %%xmm14, %%xmm14; pcmpeqd %%xmm15, %%xmm15;"
                   "mov $-1, %%rcx; mov %%rcx, %%r8; mov %%rcx, %%r9; mov %%rcx, %%r10; mov %%rcx, %%r11; fldpi; fstp %%st"
                   :
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                     "xmm12", "xmm13", "xmm14", "xmm15", "rcx", "r8", "r9", "r10", "r11");
  errno = ENOTTY;
  atomic_fetch_add(&audits, 1);
  atomic_fetch_add(&audited, number);
  atomic_fetch_add(&words, (long)strlen(word));
  return 2 * check(number);
}

/* A local function that touches few registers: its callers keep values in all others (GCC, -fipa-ra). */
static PROBED long deposit(long account, long amount) {
  __asm__ volatile("" : "+r"(amount));
  return account + amount;
}

static PROBED double rate(double of) {
  __asm__ volatile("" : "+x"(of));
  return of * 1.5;
}

/* The argument is not on the stack, or there would be no probe of its return. */
static PROBED long double exact(const long double *of) {
  __asm__ volatile("");
  return *of + 1;
}

/* What the compiler cannot follow. */
__attribute__((noipa)) static int error_now(void) { return errno; }

/* Everything is alive across the calls of deposit. */
__attribute__((noinline)) static double run_account(long times, long *account) {
  double a = 1, b = 2, c = 3, d = 4, sum = 0;
  for (long i = 0; i < times; i++) {
    *account = deposit(*account, i & 3);
    a += 1, b += 2, c += 3, d += 4;
    sum += a + b - c - d;
  }
  return sum;
}

static void *work(void *pointer) {
  long times = (long)pointer;
  long account = 0;
  double sum = 0;
  long double total = 0;
  errno = EDOM;
  sum = run_account(times, &account);
  for (long i = 0; i < times; i++) {
    sum += rate((double)i * 4 + 4);
    total = exact(&total);
  }
  /* -4 - 4i in each round of the one loop, 6i in each of the other, i from 1 on. */
  double expected = (double)times * ((double)times + 1) - 4.0 * (double)times;
  if (sum != expected || total != times || account != times / 4 * 6 || error_now() != EDOM) atomic_store(&spoilt, 1);
  return NULL;
}

int main(void) {
  long times;
  puts("ready");
  fflush(stdout);
  while (scanf("%ld", &times) == 1) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)times);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    check(0);
    printf("%s %ld %ld %ld %ld\n", spoilt ? "spoilt" : "intact", audits, audited, words, inner);
    fflush(stdout);
  }
  return 0;
}
