/* Of 32 bits and without a libc: writes its environment, a line each. */
static void write_out(const char *text, int length) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(4), "b"(1), "c"(text), "d"(length) : "memory");
}

__attribute__((used)) static void start(char **stack) {
  char **environment = stack + *(int *)stack + 2; /* behind the number of arguments, these, and their end */
  for (; *environment; environment++) {
    int length = 0;
    while ((*environment)[length]) {
      length++;
    }
    write_out(*environment, length);
    write_out("\n", 1);
  }
  __asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}

__asm__(".globl _start\n"
        "_start:\n"
        "  mov %esp, %eax\n"
        "  and $-16, %esp\n"
        "  sub $12, %esp\n"
        "  push %eax\n"
        "  call start\n");
