// As corpus.c: takes_... find arguments on the stack, or lead to a function that does; plain_... do not.
#include <cstdio>
#include <stdexcept>
#include <string>

#define ALONE __attribute__((noinline))

struct big {
  long words[5];
};
struct counted {
  long a, b, c;
  counted(const counted &other);
  ~counted();
};
counted::counted(const counted &other) : a(other.a), b(other.b), c(other.c) {}
counted::~counted() { __asm__ volatile(""); }

struct first {
  virtual ~first() = default;
  virtual int other(int) { return 1; }
  long x = 1;
};
struct second {
  virtual ~second() = default;
  virtual long takes_virtual(int, int, int, int, int, int, int g) { return g; }
  virtual long takes_virtual_big(big b) { return b.words[0]; }
  virtual long takes_virtual_varargs(int n, ...) {
    __builtin_va_list l;
    __builtin_va_start(l, n);
    long s = __builtin_va_arg(l, long);
    __builtin_va_end(l);
    return s;
  }
  virtual long plain_virtual(int a) { return a; }
  long y = 2;
};
struct both : first, second {
  long takes_virtual(int a, int b, int c, int d, int e, int f, int g) override { return x + a + b + c + d + e + f + g; }
  long takes_virtual_big(big b) override { return x + b.words[4]; }
  long plain_virtual(int a) override { return x * a; }
  ALONE long takes_member(int a, int b, int c, int d, int e, int f) { return x + a + b + c + d + e * f; }
  ALONE long plain_member(int a, int b, int c, int d, int e) { return x + a + b + c + d * e; }
};
second *make() { return new both; }

ALONE long takes_through_vtable(second *s, int a, int b, int c, int d, int e, int f, int g) {
  return s->takes_virtual(a, b, c, d, e, f, g);
}
ALONE long takes_member_by_sibling(both *s, int a, int b, int c, int d, int e, int f) {
  return s->takes_member(b, a, c, d, e, f);
}
ALONE long plain_by_value(counted c) { return c.b; }
struct triple {
  long a, b, c;
};
ALONE triple takes_seventh_and_returns_memory(long a, long b, long c, long d, long e, long f) { return {a + b, c + d, e * f}; }
ALONE triple takes_nothing_but_leaves(long a, long b, long c, long d, long e, long f) {
  return takes_seventh_and_returns_memory(b, a, c, d, e, f);
}

void may_throw(int a);
ALONE void may_throw(int a) {
  if (a == 77) {
    throw std::runtime_error("77");
  }
}
ALONE long takes_in_catch(int a, int b, int c, int d, int e, int f, int g) {
  try {
    may_throw(a);
  } catch (const std::exception &x) {
    return g + x.what()[0];
  }
  return b + c + d + e + f;
}
struct printer {
  const int &number;
  ~printer() { std::fprintf(stderr, "%d", number); }
};
ALONE long takes_in_cleanup(int a, int b, int c, int d, int e, int f, int g) {
  printer at_end{g};
  may_throw(a);
  return b + c + d + e + f;
}
ALONE long plain_catch(int a) {
  try {
    may_throw(a);
  } catch (const std::exception &x) {
    return x.what()[0];
  }
  return a;
}
ALONE std::string plain_string(const std::string &a, int b) { return a + std::to_string(b); }
template <typename T> ALONE T takes_template(T a, T b, T c, T d, T e, T f, T g) { return a + b + c + d + e + f * g; }
template long takes_template(long, long, long, long, long, long, long);
template <typename... T> ALONE long plain_pack(T... t) { return (0 + ... + t); }
template long plain_pack(int, long, short);
ALONE long use(int a) {
  auto takes_lambda = [a](int b, int c, int d, int e, int f, int g) __attribute__((noinline)) { return a + b + c + d + e + f * g; };
  return takes_lambda(1, 2, 3, 4, 5, a);
}

// These leave for what shows when it is executed: only their names tell whether they have something to pass on.
struct pointers {
  long (*seventh)(pointers *, int, int, int, int, int, int);
  long (*of_big)(pointers *, big);
  long (*of_long_double)(pointers *, long double);
  triple (*with_result)(pointers *, int, int, int, int, int);
  long (*in_registers)(pointers *, int, double, const char *);
};
ALONE long takes_seventh_for_pointer(pointers *p, int a, int b, int c, int d, int e, int f) { return p->seventh(p, a, b, c, d, e, f); }
ALONE long takes_big_for_pointer(pointers *p, big b) { return p->of_big(p, b); }
ALONE long takes_long_double_for_pointer(pointers *p, long double x) { return p->of_long_double(p, x); }
ALONE triple takes_seventh_beside_result(pointers *p, int a, int b, int c, int d, int e) { return p->with_result(p, a, b, c, d, e); }
ALONE long plain_for_pointer(pointers *p, int a, double b, const char *text) { return p->in_registers(p, a, b, text); }
ALONE long plain_for_plain(pointers *p, const std::string &text) { return plain_for_pointer(p, 1, 2, text.c_str()); }
