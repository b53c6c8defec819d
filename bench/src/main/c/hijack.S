/* Entries and exits of every function counted as LOPI does it, by the return address: what -pg -mfentry calls at a
   function's entry keeps it, with its place, and puts its own in that place. For a program that is linked with this.
   What longjmp leaves is passed over at the next return. */

#define FRAMES 65536
#define FRAME 16

  .section .tbss, "awT", @nobits
  .balign 16
frames:
  .zero FRAMES * FRAME
  .balign 16
used:
  .zero 8

  .bss
  .balign 8
entries:
  .zero 8
exits:
  .zero 8

  .text
  .globl __fentry__
  .type __fentry__, @function
__fentry__:
  incq entries(%rip)
  movq %fs:used@tpoff, %r11
  cmpq $FRAMES * FRAME, %r11
  jae 1f
  pushq %rax
  leaq 16(%rsp), %rax
  movq %rax, %fs:frames@tpoff + 8(%r11)
  movq 16(%rsp), %rax
  movq %rax, %fs:frames@tpoff(%r11)
  leaq returned(%rip), %rax
  movq %rax, 16(%rsp)
  addq $FRAME, %r11
  movq %r11, %fs:used@tpoff
  popq %rax
1:
  ret

returned:
  incq exits(%rip)
  movq %fs:used@tpoff, %r11
  subq $8, %rsp
2:
  subq $FRAME, %r11
  cmpq %rsp, %fs:frames@tpoff + 8(%r11)
  jne 2b
  movq %r11, %fs:used@tpoff
  pushq %fs:frames@tpoff(%r11)
  popq (%rsp)
  ret

/* What -pg starts and ends at link time is gprof's. */
  .globl __monstartup
  .type __monstartup, @function
__monstartup:
  .globl _mcleanup
  .type _mcleanup, @function
_mcleanup:
  ret

  .section .note.GNU-stack, "", @progbits
