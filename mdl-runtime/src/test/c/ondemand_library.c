// A library that no compiler has prepared: functions that a jump fits at always, and one where others may have its place.
#define ALWAYS __attribute__((naked))

ALWAYS long twice(long x) { __asm__("lea 0x12345(%rdi,%rdi), %rax; ret"); }

ALWAYS long same(long x) { __asm__("lea 0x54321(%rdi), %rax; ret"); }

ALWAYS long around(long x) { __asm__("1: nop; dec %rdi; jnz 1b; mov $7, %eax; ret"); }

ALWAYS long spin(long x) { __asm__("lea 0x12345(%rdi), %rax; 1: dec %rax; jnz 1b; ret"); }

__attribute__((noinline)) long pushes(long x, long (*f)(long)) { return f(x) + f(x + 1); }
