package org.mdlagent.fastinst.provider;

import java.util.Set;

/// Functions of the C library that, by their prototypes, take no arguments from the stack, whatever their
/// code looks like (ISO C, POSIX, and the library's manual). Six words are passed in registers (System V ABI,
/// AMD64 supplement, 3.2.3). Variadic functions are listed if no call has more than six.
final class Prototypes {
    private static final Set<String> IN_REGISTERS = Set.of("""
            aligned_alloc calloc free malloc malloc_usable_size memalign posix_memalign pvalloc realloc reallocarray valloc
            madvise mlock mmap mmap64 mprotect mremap msync munlock munmap
            access chdir chmod close creat dup dup2 dup3 fchmod fcntl fcntl64 fdatasync flock fstat fstat64 fsync
            ftruncate getcwd ioctl link lseek lseek64 lstat lstat64 mkdir open open64 openat openat64 pipe pipe2 readlink
            rename rmdir stat stat64 sync symlink truncate umask unlink unlinkat
            pread pread64 preadv preadv64 pwrite pwrite64 pwritev pwritev64 read readv write writev sendfile sendfile64 splice
            __pread64_chk __pread_chk __read_chk __recv_chk __recvfrom_chk __poll_chk __ppoll_chk
            accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmsg send sendmmsg
            sendmsg sendto setsockopt shutdown socket socketpair
            epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd poll ppoll pselect select
            mq_open mq_receive mq_send msgget msgrcv msgsnd semctl semget semop shmat shmdt shmget
            fclose feof ferror fflush fgetc fgets fopen fopen64 fputc fputs fread fseek fseeko ftell fwrite getc getchar getline
            putc putchar puts setvbuf ungetc
            pthread_barrier_wait pthread_cond_broadcast pthread_cond_clockwait pthread_cond_signal pthread_cond_timedwait
            pthread_cond_wait pthread_create pthread_join pthread_mutex_clocklock pthread_mutex_lock pthread_mutex_timedlock
            pthread_mutex_trylock pthread_mutex_unlock pthread_once pthread_rwlock_rdlock pthread_rwlock_timedrdlock
            pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock
            pthread_rwlock_wrlock pthread_spin_lock pthread_spin_trylock pthread_spin_unlock pthread_yield
            sem_close sem_open sem_post sem_timedwait sem_trywait sem_wait
            memchr memcmp memcpy memmove mempcpy memset stpcpy strcasecmp strcat strchr strcmp strcpy strcspn strdup strlen
            strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr strspn strstr strtok strtok_r
            abs atof atoi atol bsearch getenv qsort rand random setenv strtod strtol strtoll strtoul strtoull
            clock_gettime clock_nanosleep gettimeofday gmtime_r localtime_r mktime nanosleep sleep strftime time usleep
            getpid getppid getuid kill prctl ptrace raise sched_yield sigaction sigprocmask ulimit wait wait4 waitpid
            freeaddrinfo getaddrinfo gethostbyname
            """.strip().split("\\s+"));

    private Prototypes() {}

    /// Whether all arguments are in registers.
    static boolean inRegisters(String function) {
        return IN_REGISTERS.contains(function);
    }
}
