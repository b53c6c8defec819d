/* Code of the new thread: int64_t result = library.function(argument). Offsets are those of struct page_data (page.h). */
        .set    DLOPEN, 0
        .set    DLSYM, 8
        .set    DLERROR, 16
        .set    DETACH, 24
        .set    THREAD, 32
        .set    LIBRARY, 40
        .set    FUNCTION, 48
        .set    ARGUMENT, 56
        .set    ADOPT, 64
        .set    ERROR, 72
        .set    RESULT, 80
        .set    STATE, 88

        .section .rodata
        .globl  page_routine, page_routine_end
        .hidden page_routine, page_routine_end
page_routine:
        pushq   %rbx
        pushq   %r12
        pushq   %rax
        movq    %rdi, %rbx
        movq    $1, STATE(%rbx)         /* PAGE_RUNS */
        movq    THREAD(%rbx), %rdi
        callq   *DETACH(%rbx)
        movq    LIBRARY(%rbx), %rdi
        movl    $0x102, %esi            /* RTLD_NOW | RTLD_GLOBAL */
        callq   *DLOPEN(%rbx)
        testq   %rax, %rax
        jz      1f
        movq    %rax, %r12
        movq    ADOPT(%rbx), %rsi
        testq   %rsi, %rsi
        jz      4f
        movq    %r12, %rdi
        callq   *DLSYM(%rbx)
        movq    %rax, ADOPT(%rbx)
4:      movq    %r12, %rdi
        movq    FUNCTION(%rbx), %rsi
        callq   *DLSYM(%rbx)
        testq   %rax, %rax
        jz      2f
        movq    ARGUMENT(%rbx), %rdi
        callq   *%rax
        cltq
        movq    %rax, RESULT(%rbx)
        movq    $4, STATE(%rbx)         /* PAGE_DONE */
        jmp     3f
1:      callq   *DLERROR(%rbx)
        movq    %rax, ERROR(%rbx)
        movq    $2, STATE(%rbx)         /* PAGE_NO_LIBRARY */
        jmp     3f
2:      callq   *DLERROR(%rbx)
        movq    %rax, ERROR(%rbx)
        movq    $3, STATE(%rbx)         /* PAGE_NO_FUNCTION */
3:      xorl    %eax, %eax
        popq    %rcx
        popq    %r12
        popq    %rbx
        retq
page_routine_end:

        .section .note.GNU-stack, "", @progbits
