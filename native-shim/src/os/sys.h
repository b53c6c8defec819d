/* Stateless kernel services: clocks, futexes, system calls that no wrapper intercepts. */
#ifndef MDL_SYS_H
#define MDL_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* libc's syscall(), bypassing the wrapper in agent/syscall.c. */
long raw_syscall(long number, ...);

/* The kernel's soft limit; RLIM_INFINITY means no limit. It can be higher than the limit that the program has set
 * (process/limits.c). */
uint64_t kernel_limit(int resource);

uint64_t clock_nanos(clockid_t clock);

/*
 * prctl(PR_SET_TSC) makes RDTSC raise SIGSEGV in a thread and in all threads and processes that it creates; libc's clocks
 * then fault too, because they read the TSC. Set once any thread of this process has done so: from then on the shim reads
 * clocks by system call.
 */
extern _Atomic bool tsc_is_forbidden;
/* Whether RDTSC faults in the calling thread. */
bool tsc_is_forbidden_to_thread(void);

/* The kernel's encoding of the CPU clocks of a thread and of a process. clock_getcpuclockid(3) covers processes only, and
 * makes a system call. */
static inline clockid_t thread_cpu_clock(pid_t tid) { return (clockid_t)(~(uint32_t)tid << 3 | 6); }
static inline clockid_t process_cpu_clock(pid_t pid) { return (clockid_t)(~(uint32_t)pid << 3 | 2); }

/* True if woken, false on timeout. Returns at once if *word != value. */
bool futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanos);
void futex_wake(_Atomic uint32_t *word);

/* Opens once and stays open. */
typedef _Atomic uint32_t latch;
void latch_open(latch *word);
/* False on timeout. */
bool latch_await(latch *word, uint64_t nanos);

/* Reads a file, at most capacity - 1 bytes, and adds a NUL. Empty if the file cannot be read. */
void read_text(const char *path, char *text, size_t capacity);

#endif
