/* The kernel's services that have no state here: clocks, sleeping on a word, system calls that nothing stands in front of. */
#ifndef MDL_SYS_H
#define MDL_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* libc's syscall() without a look at what is asked for (agent/syscall.c). */
long raw_syscall(long number, ...);

uint64_t clock_nanos(clockid_t clock);

/*
 * prctl(PR_SET_TSC): RDTSC is SIGSEGV in a thread, in those that it creates, in what it forks and executes; so are libc's clocks,
 * which read it too. Some thread of this process has had it; where it is not the program's calls that are made, it reads no
 * clock but by a system call.
 */
extern _Atomic bool tsc_is_forbidden;
/* Whether the calling thread has it. */
bool tsc_is_forbidden_to_thread(void);

/* The CPU clocks of a thread and of a process by their ids, as the kernel encodes them: clock_getcpuclockid(3), which libc has
 * for processes alone, and asks the kernel about. */
static inline clockid_t thread_cpu_clock(pid_t tid) { return (clockid_t)(~(uint32_t)tid << 3 | 6); }
static inline clockid_t process_cpu_clock(pid_t pid) { return (clockid_t)(~(uint32_t)pid << 3 | 2); }

/* True when woken, false when the time is over; returns at once when *word != value. */
bool futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanos);
void futex_wake(_Atomic uint32_t *word);

/* Closed, and once opened, open. */
typedef _Atomic uint32_t latch;
void latch_open(latch *word);
/* False when it takes longer. */
bool latch_await(latch *word, uint64_t nanos);

/* What a file holds, up to so many bytes with the NUL behind it; empty when it cannot be read. */
void read_text(const char *path, char *text, size_t capacity);

#endif
