# As corpus.c, by hand: each function has an unwind table, which is right, but where the comment says so.
        .text
        .macro function name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        .endm
        .macro end name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        function takes_plainly
        mov     8(%rsp), %rax
        ret
        end     takes_plainly

        function takes_by_push
        push    8(%rsp)
        .cfi_adjust_cfa_offset 8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        end     takes_by_push

        function takes_by_pop_to_memory
        push    %rdi
        .cfi_adjust_cfa_offset 8
        pop     8(%rsp)
        .cfi_adjust_cfa_offset -8
        ret
        end     takes_by_pop_to_memory

        function takes_by_copied_pointer
        mov     %rsp, %rax
        mov     8(%rax), %rax
        ret
        end     takes_by_copied_pointer

        function takes_by_copied_pointer_in_frame
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        mov     %rsp, %rax
        mov     32(%rax), %rax
        add     $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
        end     takes_by_copied_pointer_in_frame

        function takes_by_sum
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        mov     %rsp, %rax
        add     $32, %rax
        mov     (%rax), %rax
        add     $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
        end     takes_by_sum

        function takes_by_lea
        lea     8(%rsp), %rax
        mov     (%rax), %rax
        ret
        end     takes_by_lea

        function takes_by_index
        mov     (%rsp,%rdi,8), %rax
        ret
        end     takes_by_index

        function takes_by_frame_pointer
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        mov     16(%rbp), %rax
        pop     %rbp
        .cfi_def_cfa rsp, 8
        ret
        end     takes_by_frame_pointer

        # The table goes on with RSP: that is right, too.
        function takes_by_untold_frame_pointer
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        mov     16(%rbp), %rax
        pop     %rbp
        .cfi_def_cfa_offset 8
        ret
        end     takes_by_untold_frame_pointer

        function takes_by_stack_pointer_beside_frame_pointer
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        sub     $16, %rsp
        mov     32(%rsp), %rax
        leave
        .cfi_def_cfa rsp, 8
        ret
        end     takes_by_stack_pointer_beside_frame_pointer

        # No word of the table about the frame: it is wrong.
        function takes_untold
        sub     $24, %rsp
        mov     32(%rsp), %rax
        add     $24, %rsp
        ret
        end     takes_untold

        # The table says that RSP is lower than it is.
        function takes_mistold
        .cfi_adjust_cfa_offset 64
        mov     8(%rsp), %rax
        .cfi_adjust_cfa_offset -64
        ret
        end     takes_mistold

        function takes_and_drops
        mov     %rdi, %rax
        ret     $8
        end     takes_and_drops

        function takes_by_jump
        lea     1(%rdi), %rdi
        jmp     takes_plainly
        end     takes_by_jump

        function takes_by_conditional_jump
        test    %rdi, %rdi
        jne     takes_plainly
        ret
        end     takes_by_conditional_jump

        function takes_by_falling_through
        add     $1, %rdi
        .cfi_endproc
        .size   takes_by_falling_through, . - takes_by_falling_through
        function takes_behind
        mov     8(%rsp), %rax
        ret
        end     takes_behind

        function takes_by_jump_into_another
        jmp     1f
        end     takes_by_jump_into_another

        function takes_inside
        xor     %eax, %eax
        ret
1:      mov     8(%rsp), %rax
        ret
        end     takes_inside

        function takes_by_register_jump
        mov     %rdi, %rax
        jmp     *%rax
        end     takes_by_register_jump

        function takes_by_untracked_jump
        mov     %rdi, %rax
        notrack jmp *%rax
        end     takes_by_untracked_jump

        function takes_by_memory_jump
        jmp     *(%rdi)
        end     takes_by_memory_jump

        function takes_by_variable
        jmp     *variable(%rip)
        end     takes_by_variable

        # A table as that of `switch`, of other functions.
        function takes_by_relative_table
        lea     distances(%rip), %rax
        movslq  (%rax,%rdi,4), %rdx
        add     %rdx, %rax
        notrack jmp *%rax
        end     takes_by_relative_table

        function takes_by_push_and_return
        lea     takes_plainly(%rip), %rax
        push    %rax
        .cfi_adjust_cfa_offset 8
        ret
        .cfi_adjust_cfa_offset -8
        end     takes_by_push_and_return

        function takes_on_another_stack
        mov     %rsp, %rax
        mov     %rdi, %rsp
        mov     8(%rax), %rcx
        mov     %rax, %rsp
        ret
        end     takes_on_another_stack

        function takes_by_exchange
        xchg    %rsp, %rax
        mov     8(%rax), %rcx
        xchg    %rsp, %rax
        ret
        end     takes_by_exchange

        function takes_by_string_instruction
        lea     8(%rsp), %rsi
        mov     $4, %ecx
        rep movsq
        ret
        end     takes_by_string_instruction

        function takes_in_vex
        vmovdqu 8(%rsp), %ymm0
        vzeroupper
        ret
        end     takes_in_vex

        function takes_in_evex
        vmovdqu64 64(%rsp), %zmm0
        vzeroupper
        ret
        end     takes_in_evex

        function takes_in_frame_with_evex
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        vmovdqu64 64(%rsp), %zmm0
        add     $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
        end     takes_in_frame_with_evex

        function takes_by_compare
        cmp     8(%rsp), %rdi
        sete    %al
        ret
        end     takes_by_compare

        function takes_by_call_through
        call    *8(%rsp)
        ret
        end     takes_by_call_through

        function takes_behind_a_constant
        jmp     2f
        .quad   0x0606060606060606
2:      mov     8(%rsp), %rax
        ret
        end     takes_behind_a_constant

        function takes_by_copied_frame_pointer
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        mov     %rbp, %rax
        mov     16(%rax), %rax
        pop     %rbp
        .cfi_def_cfa rsp, 8
        ret
        end     takes_by_copied_frame_pointer

        function plain_realigned_by_hand
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        sub     $96, %rsp
        and     $-32, %rsp
        vmovdqa %ymm0, (%rsp)
        vmovdqa 32(%rsp), %ymm0
        leave
        .cfi_def_cfa rsp, 8
        ret
        end     plain_realigned_by_hand

        function plain_red_zone
        mov     %rdi, -8(%rsp)
        mov     -8(%rsp), %rax
        ret
        end     plain_red_zone

        .section .rodata
        .p2align 2
distances:
        .long   takes_plainly - distances, takes_by_push - distances

        .data
        .globl  variable
        .hidden variable
variable:
        .quad   0
        .section .note.GNU-stack, "", @progbits
