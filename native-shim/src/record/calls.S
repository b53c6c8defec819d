/*
 * The slow path: generated code calls C, and every register that the program may read is preserved. The caller of a local
 * function may keep values in any register that the function does not change (GCC, -fipa-ra). Arguments and results may be
 * in vector registers of any width and on the x87 stack. The fast path saves the few registers that it changes.
 */
#include "record/calls.h"
#include "record/side_memory.h"

        .text

/* Reads the time-stamp counter into RAX. Changes RDX and the flags. */
.macro READ_TICKS
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
.endm

/*
 * Saves the caller-saved registers except R11, and the FPU's and vector state. RBP is the frame.
 * TICKS: stores the time-stamp counter at TICKS_AT(%rbp). Saving and restoring takes longer than a short function, so a call
 * is timed from after SAVE to before RESTORE.
 * ASIDE: puts the state, which takes kilobytes, into a free area off the stack (record/side_memory.h). Not used where code of
 * the program runs before RESTORE: if it leaves by longjmp, the area would never be released.
 */
#define TICKS_AT -72
#define AREA_AT -80 /* index of the area; negative: the state is on the stack */
.macro SAVE TICKS=0, ASIDE=1
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
.if \TICKS
        /* Skipped in a thread that records nothing, because RDTSC may fault there (PR_SET_TSC). */
        movq    mdl_self@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
        leaq    mute_thread(%rip), %rdx
        testq   %rax, %rax
        jz      3f
        cmpq    %rdx, %rax
        je      3f
        READ_TICKS
3:      pushq   %rax
.else
        subq    $8, %rsp
.endif
.if \ASIDE
        movq    side_areas(%rip), %rdi
        testq   %rdi, %rdi
        jz      6f
        leaq    side_owners(%rip), %rcx
        movq    %fs:0, %rsi
        xorl    %edx, %edx
4:      cmpq    $0, (%rcx,%rdx,8)
        jne     5f
        xorl    %eax, %eax
        lock cmpxchgq %rsi, (%rcx,%rdx,8)
        je      7f
5:      incl    %edx
        cmpl    $SIDE_AREAS, %edx
        jb      4b
.endif
6:      pushq   $-1
        subq    calls_state_bytes(%rip), %rsp
        andq    $-64, %rsp
        movq    %rsp, %rdi
.if \ASIDE
        jmp     8f
7:      pushq   %rdx
        andq    $-16, %rsp
        imulq   side_area_bytes(%rip), %rdx
        addq    %rdx, %rdi
.endif
8:      movl    calls_state_components(%rip), %eax
        xorl    %edx, %edx
        testl   %eax, %eax
        jz      1f
        /* XSAVE leaves the rest of the header as it is, and XRSTOR wants zeros there. */
        movq    %rdx, 512(%rdi)
        movq    %rdx, 520(%rdi)
        movq    %rdx, 528(%rdi)
        movq    %rdx, 536(%rdi)
        movq    %rdx, 544(%rdi)
        movq    %rdx, 552(%rdi)
        movq    %rdx, 560(%rdi)
        movq    %rdx, 568(%rdi)
        xsave64 (%rdi)
        jmp     2f
1:      fxsave64 (%rdi)
2:      cld
.endm

.macro RESTORE
        movq    %rsp, %rsi
        movq    AREA_AT(%rbp), %rcx
        testq   %rcx, %rcx
        js      3f
        movq    %rcx, %rsi
        imulq   side_area_bytes(%rip), %rsi
        addq    side_areas(%rip), %rsi
3:      movl    calls_state_components(%rip), %eax
        xorl    %edx, %edx
        testl   %eax, %eax
        jz      1f
        xrstor64 (%rsi)
        jmp     2f
1:      fxrstor64 (%rsi)
2:      testq   %rcx, %rcx
        js      3f
        leaq    side_owners(%rip), %rsi
        movq    $0, (%rsi,%rcx,8)
3:      leaq    -64(%rbp), %rsp
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
.endm

/* If R11 is CALLS_SEEN: stores the start of the call whose words are at AT(%rbp). Reads the clock after all other work.
 * Changes the flags. */
.macro START AT
        cmpq    $CALLS_SEEN, %r11
        jne     4f
        pushq   %rax
        pushq   %rdx
        movq    session(%rip), %rax
        testl   $CPU_TIME, HEADER_FLAGS(%rax)
        jnz     3f
        lfence
        READ_TICKS
        movq    %rax, \AT + CALL_START(%rbp)
3:      popq    %rdx
        popq    %rax
4:
.endm

/*
 * Slow path of an entry. A stub jumps here. On top of the stack is the return address into the stub, above it are the words of
 * the call. R11 is the site; the word below the stack pointer has the application's R11. Calls FUNCTION(site, call), sets the
 * flags by comparing the result with CALLS_UNSEEN, and returns to the stub with all registers preserved; for CALLS_SIBLING, R11
 * stays the site.
 * COUNTS: on top of the stack is the address in the program. Calls FUNCTION(site, return address of the call) and returns there
 * with all registers preserved.
 */
.macro ENTRY NAME, FUNCTION, COUNTS=0, ASIDE=1
        .globl  \NAME
        .hidden \NAME
        .type   \NAME, @function
        .p2align 4
\NAME:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        SAVE    0, \ASIDE
        movq    %r11, %rdi
        leaq    24(%rbp), %rsi
        call    \FUNCTION
        movq    %rax, %r11
        RESTORE
.if !\COUNTS
        START   24
        cmpq    $CALLS_UNSEEN, %r11
        jb      5f
.endif
        movq    8(%rbp), %r11
6:      popq    %rbp
        .cfi_remember_state
        .cfi_def_cfa %rsp, 16
        .cfi_restore %rbp
        leaq    8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        ret
.if !\COUNTS
        .cfi_restore_state
5:      movq    16(%rbp), %r11
        movq    STUB_SITE-STUB_ENTERED(%r11), %r11
        jmp     6b
.endif
        .cfi_endproc
        .size   \NAME, . - \NAME
.endm

        ENTRY   calls_entry_slow, calls_enter
        ENTRY   calls_entry_cpu, calls_read_cpu
        ENTRY   calls_count_slow, calls_count, 1
        ENTRY   calls_entry_client, calls_enter_client, 0, 0
        ENTRY   calls_count_client_entry, calls_count_client, 1, 0

/*
 * Slow path of an exit. A stub jumps here when the body has returned. The words of the call are on top of the stack; the word
 * below the stack pointer still has the return address into the stub. Calls FUNCTION(call, site, ticks) and returns to the
 * caller.
 *
 * SIBLING: the body has not returned but jumped to another function with a stub. R11 is the site of that function; the sixth
 * word below the stack pointer has the application's R11. Ends the call and restarts that function's stub, as if the caller had
 * called it. Pops the stub's address from a shadow stack, too (Intel SDM vol. 1, 17.2.4: RDSSP does nothing without one).
 */
.macro EXIT NAME, FUNCTION, SIBLING=0, ASIDE=1
#define BELOW (8 + 48 * \SIBLING)
        .globl  \NAME
        .hidden \NAME
        .type   \NAME, @function
        .p2align 4
\NAME:
        .cfi_startproc
        .cfi_def_cfa_offset CALL_BYTES + 8
        subq    $BELOW, %rsp
        .cfi_adjust_cfa_offset BELOW
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        SAVE    1, \ASIDE
        pushq   %r11
        subq    $8, %rsp
        leaq    8 + BELOW(%rbp), %rdi
        movq    BELOW(%rbp), %rsi
        movq    STUB_SITE-STUB_RETURN(%rsi), %rsi
        movq    TICKS_AT(%rbp), %rdx
        call    \FUNCTION
        addq    $8, %rsp
        popq    %r11
        RESTORE
        popq    %rbp
        .cfi_def_cfa %rsp, BELOW + CALL_BYTES + 8
        .cfi_restore %rbp
.if \SIBLING
        movq    SITE_STUB(%r11), %r11
        movq    %r11, (%rsp)
        xorl    %r11d, %r11d
        rdsspq  %r11
        testq   %r11, %r11
        jz      7f
        movl    $1, %r11d
        incsspq %r11
7:      movq    8(%rsp), %r11
        leaq    BELOW + CALL_BYTES(%rsp), %rsp
        .cfi_def_cfa_offset 8
        jmp     *-(BELOW + CALL_BYTES)(%rsp)
.else
        leaq    BELOW + CALL_BYTES(%rsp), %rsp
        .cfi_def_cfa_offset 8
        ret
.endif
        .cfi_endproc
        .size   \NAME, . - \NAME
.endm

        EXIT    calls_exit_slow, calls_leave
        EXIT    calls_exit_client, calls_leave_client, 0, 0
        EXIT    calls_sibling_slow, calls_leave, 1

/*
 * Functions to which the code of snippets jumps.
 * FRAMED: the body of a whole function has returned; the words of its call are on top of the stack.
 * BYTES: bytes below the stack pointer that are preserved, except the lowest word, which receives R11.
 */
.macro SNIPPET_BEGIN NAME, FRAMED, BYTES, ASIDE
        .globl  \NAME
        .hidden \NAME
        .type   \NAME, @function
        .p2align 4
\NAME:
        .cfi_startproc
.if \FRAMED
        .cfi_def_cfa_offset CALL_BYTES + 8
.endif
        subq    $\BYTES, %rsp
        .cfi_adjust_cfa_offset \BYTES
        movq    %r11, (%rsp)
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        SAVE    0, \ASIDE
.endm

/* After RESTORE: continues at the address stored at NEXT from the original stack pointer. Preserves the flags. */
.macro SNIPPET_LEAVE NAME, FRAMED, BYTES, NEXT
        popq    %rbp
        .cfi_def_cfa %rsp, \BYTES + 8 + CALL_BYTES * \FRAMED
        .cfi_restore %rbp
        leaq    \BYTES(%rsp), %rsp
        .cfi_adjust_cfa_offset -\BYTES
        jmp     *\NEXT(%rsp)
        .cfi_endproc
        .size   \NAME, . - \NAME
.endm

/*
 * Allocates the thread's values of snippets at its first snippet. R11 is the address to continue at; ZF is set there if there
 * is no memory. Preserves all other registers and the three words below the stack pointer, where the snippet's code has saved
 * the registers that it uses.
 */
.macro VALUES NAME, FRAMED
        SNIPPET_BEGIN \NAME, \FRAMED, 32, 1
        call    snippets_values
        movq    %rax, %r11
        RESTORE
        testq   %r11, %r11
        SNIPPET_LEAVE \NAME, \FRAMED, 32, -32
.endm

        VALUES  calls_values, 0
        VALUES  calls_values_framed, 1

/*
 * Calls a function of the program for a snippet. RDX: the function. RAX: the address to continue at. The red zone has six
 * arguments, the first in its lowest word. Continues with the result in RAX, ZF set if nothing was called, and R11 pointing to
 * the thread's values (they differ in a process that the function has forked). Clobbers RDX and the lowest three words of the
 * red zone; preserves everything else.
 */
#define ARGUMENT_BYTES 144 /* the red zone, R11, and an unused word */
#define ARGUMENT_SLOT 24   /* the lowest word of the red zone, from RBP */
.macro SNIPPET_CALL NAME, FRAMED
        SNIPPET_BEGIN \NAME, \FRAMED, ARGUMENT_BYTES, 0
        emms    /* a result may be on the x87 stack; functions expect it empty */
        movq    -24(%rbp), %rdi /* RDX, where it has been saved */
        leaq    ARGUMENT_SLOT(%rbp), %rsi
        call    snippets_call
        movq    %rax, ARGUMENT_SLOT+8(%rbp)
        movq    %rdx, ARGUMENT_SLOT+16(%rbp)
        RESTORE
        movq    %rax, ARGUMENT_SLOT(%rbp)
        movq    ARGUMENT_SLOT+8(%rbp), %rax
        movq    8(%rbp), %r11
        movq    ARGUMENT_SLOT+16(%rbp), %rdx
        testq   %rdx, %rdx
        cmovnz  %rdx, %r11
        SNIPPET_LEAVE \NAME, \FRAMED, ARGUMENT_BYTES, -128
.endm

        SNIPPET_CALL calls_snippet_call, 0
        SNIPPET_CALL calls_snippet_call_framed, 1

/*
 * Calls the client of a hook call's site. A stub jumps here as to a hook: R10 is the site, RDI the function, R11 the recording
 * code, whose arguments are in RAX, RSI and on the stack. Caller-saved registers need not be preserved. The client runs before
 * the recording code at an entry and after it at an exit, so its time is not recorded.
 */
        .globl  calls_hook_entry
        .hidden calls_hook_entry
        .type   calls_hook_entry, @function
        .p2align 4
calls_hook_entry:
        .cfi_startproc
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        leaq    40(%rsp), %rdx
        movq    %rdi, %rsi
        movq    %r10, %rdi
        call    client_call
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r11
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %r10
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        cmpb    $0, SITE_RECORDING(%r10)
        je      1f
        jmp     *%r11
1:      ret
        .cfi_endproc
        .size   calls_hook_entry, . - calls_hook_entry

        .globl  calls_hook_exit
        .hidden calls_hook_exit
        .type   calls_hook_exit, @function
        .p2align 4
calls_hook_exit:
        .cfi_startproc
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        cmpb    $0, SITE_RECORDING(%r10)
        je      1f
        call    *%r11
1:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        movq    %rsp, %rdx
        jmp     client_call
        .cfi_endproc
        .size   calls_hook_exit, . - calls_hook_exit

/* side_stack_switch(function, argument, top): calls function(argument) on the stack that ends at `top`. */
        .globl  side_stack_switch
        .hidden side_stack_switch
        .type   side_stack_switch, @function
        .p2align 4
side_stack_switch:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdx, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size   side_stack_switch, . - side_stack_switch

        .section .note.GNU-stack, "", @progbits
