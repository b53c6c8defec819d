/* Functions, and variables, that stand one behind the other, in this order or, SWAPPED, in the other one; with a main that calls them or,
 * as a LIBRARY, without. */
void alpha(void);
void beta(void);
#ifndef CALLER
#ifdef SWAPPED
#define FIRST beta
#define SECOND alpha
long later = 22, sooner = 11;
#else
#define FIRST alpha
#define SECOND beta
long sooner = 11, later = 22;
#endif
__attribute__((noinline)) void FIRST(void) { __asm__ volatile(""); }
__attribute__((noinline)) void SECOND(void) { __asm__ volatile(""); }
#endif
#ifndef LIBRARY
int main(void) {
  for (int i = 0; i < 10; i++) alpha();
  for (int i = 0; i < 20; i++) beta();
  return 0;
}
#endif
