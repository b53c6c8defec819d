// Functions by what they need of the stack: takes_... find arguments there, or leave to a function that does; plain_...
// do not. The names are the truth that StackArgumentsTest compares the proof with.
#include <alloca.h>
#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALONE __attribute__((noinline))
#define COLD __attribute__((noinline, cold, noreturn))

typedef struct {
  long words[5];
} big;
typedef int (*seven)(int, int, int, int, int, int, int);
typedef int (*one)(int);
typedef void (*of_big)(big);

seven volatile seven_pointer;
one volatile one_pointer;
of_big volatile big_pointer;
volatile long sink;
void escape(void *);
ALONE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

ALONE int takes_seven(int a, int b, int c, int d, int e, int f, int g) { return a + b * c - d + e + f * g; }
ALONE long takes_eighth(long a, long b, long c, long d, long e, long f, long g, long h) {
  escape(&a);
  return h + a + b + c + d + e + f + g;
}
ALONE double takes_ninth_double(double a, double b, double c, double d, double e, double f, double g, double h, double i) {
  return a + b * c + d + e + f + g + h * i;
}
ALONE long takes_big(big b) { return b.words[0] + b.words[4]; }
ALONE long takes_big_by_address(big b) {
  escape(&b);
  return b.words[2];
}
ALONE long takes_indexed(big b, unsigned i) { return b.words[i % 5]; }
ALONE long double takes_long_double(long double x) { return x * 2; }
ALONE _Complex long double takes_complex(_Complex long double x) { return x + 1; }
ALONE long takes_store(long a, long b, long c, long d, long e, long f, long g) {
  for (long i = 0; i < a; i++) {
    g += i * b;
    escape(&g);
  }
  return g + c + d + e + f;
}
__attribute__((noinline, target("avx"))) __m256 takes_vectors(__m256 a, __m256 b, __m256 c, __m256 d, __m256 e, __m256 f,
                                                              __m256 g, __m256 h, __m256 i) {
  return _mm256_add_ps(a, _mm256_add_ps(b, _mm256_add_ps(c, _mm256_add_ps(d, _mm256_add_ps(e, _mm256_add_ps(f, _mm256_add_ps(g, _mm256_mul_ps(h, i))))))));
}
__attribute__((noinline, target("avx512f"))) __m512 takes_wide_vectors(__m512 a, __m512 b, __m512 c, __m512 d, __m512 e,
                                                                       __m512 f, __m512 g, __m512 h, __m512 i) {
  return _mm512_add_ps(i, _mm512_add_ps(a, h));
}

// Variable numbers of arguments.
ALONE long takes_varargs(int n, ...) {
  va_list l;
  va_start(l, n);
  long s = 0;
  for (int i = 0; i < n; i++) {
    s += va_arg(l, long);
  }
  va_end(l);
  return s;
}
ALONE int takes_format(const char *format, ...) {
  char text[100];
  va_list l;
  va_start(l, format);
  int n = vsnprintf(text, sizeof text, format, l);
  va_end(l);
  return n + text[0];
}
ALONE long plain_list(int n, va_list *l) {
  long s = 0;
  for (int i = 0; i < n; i++) {
    s += va_arg(*l, long);
  }
  return s;
}

// Forwarding: these do not touch the arguments that they hand on.
ALONE int takes_by_sibling(int a, int b, int c, int d, int e, int f, int g) { return takes_seven(a + 1, b, c, d, e, f, g); }
ALONE int takes_by_sibling_twice(int a, int b, int c, int d, int e, int f, int g) {
  return takes_by_sibling(a + 1, b, c, d, e, f, g);
}
ALONE int takes_by_pointer(int a, int b, int c, int d, int e, int f, int g) { return seven_pointer(a + 1, b, c, d, e, f, g); }
ALONE int takes_by_either(int a, int b, int c, int d, int e, int f, int g) {
  if (a > 5) {
    return takes_seven(b, a, c, d, e, f, g);
  }
  return seven_pointer(a, b, c, d, e, f, g);
}
ALONE void takes_big_by_pointer(big b) { big_pointer(b); }
ALONE long takes_big_by_sibling(big b) { return takes_big(b); }
ALONE long double takes_long_double_by_sibling(long double x) { return takes_long_double(x); }
static ALONE int takes_even(int a, int b, int c, int d, int e, int f, int g);
static ALONE int takes_odd(int a, int b, int c, int d, int e, int f, int g) {
  return a == 0 ? 0 : takes_even(a - 1, b, c, d, e, f, g);
}
static ALONE int takes_even(int a, int b, int c, int d, int e, int f, int g) {
  return a == 0 ? takes_seven(a, b, c, d, e, f, g) : takes_odd(a - 1, b, c, d, e, f, g);
}
ALONE int takes_circle(int a, int b, int c, int d, int e, int f, int g) { return takes_odd(a & 15, b, c, d, e, f, g); }
ALONE int takes_by_table(int a, int b, int c, int d, int e, int f, int g) {
  static const seven table[] = {takes_seven, takes_by_sibling, takes_by_pointer, takes_by_either, takes_circle};
  return table[(unsigned)a % 5](a, b, c, d, e, f, g);
}
ALONE int takes_by_switch(int a, int b, int c, int d, int e, int f, int g) {
  switch (a) {
    case 0: return takes_seven(a, b, c, d, e, f, g);
    case 1: return takes_by_sibling(a, b, c, d, e, f, g);
    case 2: return takes_by_pointer(a, b, c, d, e, f, g);
    case 3: return takes_by_either(a, b, c, d, e, f, g);
    case 4: return takes_circle(a, b, c, d, e, f, g);
    case 5: return takes_by_table(a, b, c, d, e, f, g);
    default: return takes_by_sibling_twice(a, b, c, d, e, f, g);
  }
}

// Rare ways: argument and stack pointer meet far from the entry.
COLD void fail_with(int);
COLD void fail_with(int g) {
  fprintf(stderr, "%d\n", g);
  abort();
}
ALONE int takes_when_cold(int a, int b, int c, int d, int e, int f, int g) {
  if (__builtin_expect(a == 12345, 0)) {
    fail_with(g);
  }
  return b + c + d + e + f;
}
ALONE int takes_when_cold_with_frame(int a, int b, int c, int d, int e, int f, int g) {
  char text[64];
  snprintf(text, sizeof text, "%d", b);
  if (__builtin_expect(text[0] == 'x', 0)) {
    fprintf(stderr, "%d %d\n", c, g);
    fail_with(g);
  }
  return text[0] + d + e + f + a;
}
ALONE int takes_in_case(int a, int b, int c, int d, int e, int f, int g) {
  switch (a) {
    case 0: return b * 3;
    case 1: sink = c; return d - 1;
    case 2: sink = d; return e * b;
    case 3: sink = e; return f;
    case 4: sink = f; return b + c;
    case 5: fail_with(g);
    case 6: sink = b; return c - f;
    default: return 9;
  }
}
ALONE int takes_realigned(int a, int b, int c, int d, int e, int f, int g) {
  char local[64] __attribute__((aligned(64)));
  memset(local, a, sizeof local);
  escape(local);
  return local[3] + b + c + d + e + f + g;
}
ALONE int takes_alloca(int a, int b, int c, int d, int e, int f, int g) {
  char *p = alloca((size_t)a);
  escape(p);
  return p[0] + b + c + d + e + f + g;
}
ALONE int takes_variable_array(int a, int b, int c, int d, int e, int f, int g) {
  int array[a + 1];
  for (int i = 0; i <= a; i++) {
    array[i] = i * g;
    escape(array);
  }
  return array[a] + b + c + d + e + f;
}
ALONE int takes_large_frame(int a, int b, int c, int d, int e, int f, int g) {
  char frame[100000];
  escape(frame);
  return frame[a] + b + c + d + e + f + g;
}
ALONE int takes_by_frame_address(int a) {
  int *frame = (int *)__builtin_frame_address(0);
  return a + frame[4];
}
ALONE int takes_by_copied_frame_address(int a) {
  int *volatile frame = (int *)__builtin_frame_address(0);
  escape(frame);
  return a + frame[4];
}

// Microsoft's convention: four arguments in registers, and room for them above the return address.
#define MS __attribute__((ms_abi, noinline))
MS int takes_ms_five(int a, int b, int c, int d, int e) { return a + b * c + d * e; }
MS int takes_ms_sibling(int a, int b, int c, int d, int e) { return takes_ms_five(a + 1, b, c, d, e); }
typedef int(__attribute__((ms_abi)) * ms_five)(int, int, int, int, int);
ms_five volatile ms_pointer;
MS int takes_ms_pointer(int a, int b, int c, int d, int e) { return ms_pointer(a + 1, b, c, d, e); }
MS long takes_ms_varargs(int n, ...) {
  __builtin_ms_va_list l;
  __builtin_ms_va_start(l, n);
  long s = 0;
  for (int i = 0; i < n; i++) {
    s += __builtin_va_arg(l, long);
  }
  __builtin_ms_va_end(l);
  return s;
}

#ifndef __clang__
ALONE long takes_nested(long a, long b, long c, long d, long e, long f, long g) {
  __attribute__((noinline)) long inner(long x) { return x + g * a; }
  return inner(b) + inner(c + d + e + f);
}
ALONE void *takes_apply(int a, int b, int c, int d, int e, int f, int g) {
  return __builtin_apply((void (*)())takes_seven, __builtin_apply_args(), 64);
}
#else
ALONE int takes_must_tail(int a, int b, int c, int d, int e, int f, int g) {
  __attribute__((musttail)) return takes_seven(g, b, c, d, e, f, a);
}
ALONE int takes_must_tail_unchanged(int a, int b, int c, int d, int e, int f, int g) {
  __attribute__((musttail)) return seven_pointer(b, a, c, d, e, f, g);
}
__attribute__((noinline, swiftcall)) long takes_swift(long a, long b, long c, long d, long e, long f, long g) {
  return a + b + c + d + e + f + g;
}
__attribute__((noinline, preserve_most)) long takes_preserve_most(long a, long b, long c, long d, long e, long f, long g) {
  sink = a;
  return b + c + d + e + f + g;
}
#endif

// What needs nothing of the stack.
ALONE int plain_six(int a, int b, int c, int d, int e, int f) { return a + b * c - d * e + f; }
ALONE double plain_eight_doubles(double a, double b, double c, double d, double e, double f, double g, double h) {
  return a + b * c + d + e * f + g - h;
}
ALONE int plain_calls_takers(int a) {
  big b = {{a, 2, 3, 4, 5}};
  return takes_seven(a, 2, 3, 4, 5, 6, 7) + (int)takes_big(b) + (int)takes_varargs(3, 1L, 2L, 3L)
       + takes_ms_five(1, 2, 3, 4, a) + takes_realigned(1, 2, 3, 4, 5, 6, a);
}
ALONE big plain_returns_big(long a) {
  big b = {{a, a, a, a, a}};
  return b;
}
ALONE int plain_realigned(int a) {
  char local[64] __attribute__((aligned(64)));
  memset(local, a, sizeof local);
  escape(local);
  return local[3];
}
ALONE int plain_alloca(int a) {
  char *p = alloca((size_t)a);
  escape(p);
  return p[0];
}
ALONE int plain_large_frame(int a) {
  char frame[100000];
  escape(frame);
  return frame[a];
}
ALONE int plain_sibling(int a, int b) { return plain_six(b, a, 1, 2, 3, 4); }
ALONE static int plain_odd(int a);
ALONE static int plain_even(int a) { return a == 0 ? 1 : plain_odd(a - 1); }
ALONE static int plain_odd(int a) { return a == 0 ? 0 : plain_even(a - 1); }
ALONE int plain_circle(int a) { return plain_even(a & 31); }
ALONE int plain_switch(int a, int b) {
  switch (a) {
    case 0: sink = 1; return b * 3;
    case 1: sink = b; return b - 1;
    case 2: sink = b + 2; return b * b;
    case 3: sink = b - 3; return plain_sibling(b, 7);
    case 4: sink = 5; return b + 8;
    case 5: sink = b * 5; return b / 3;
    case 6: sink = b; return plain_alloca(7);
    default: return 9;
  }
}
ALONE int plain_cold(int a) {
  if (__builtin_expect(a == 12345, 0)) {
    fail_with(a);
  }
  return a * 3;
}
ALONE long plain_many_locals(long a) {
  long v[20];
  for (int i = 0; i < 20; i++) {
    v[i] = a * i;
  }
  escape(v);
  return v[(unsigned long)a % 20];
}
ALONE int plain_pointer_kept(int a) { return one_pointer(a + 1) + 1; }
