/* A MiB of functions without probes: what has to be looked through where it is not known where probes are. */
        .text
        .rept   4096
        .balign 256
        .cfi_startproc
        .rept   15
        imul    $0x5851F42D, %rdi, %rax
        lea     1(%rax, %rdi), %rdi
        movzx   %dil, %ecx
        .endr
        mov     %rdi, %rax
        ret
        .cfi_endproc
        .endr
        .section .note.GNU-stack, "", @progbits
