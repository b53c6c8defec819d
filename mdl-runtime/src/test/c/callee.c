/* A library whose function others call. */
__attribute__((noinline)) int from_library(int i) {
  __asm__ volatile("");
  return i + 7;
}
