/* A threaded program with functions of the names that Paradyn's metrics look for: two threads call each of them once, as often
 * as a line of stdin says. -fno-builtin, since some are names of the C library's. */
#include <stdio.h>
#include <threads.h>

#define STAND_IN(name) \
  static __attribute__((noipa)) long name(long a, long b, long c) { return a + b - c; }

STAND_IN(solve) STAND_IN(norm)
STAND_IN(MPI_Send) STAND_IN(MPI_Bsend) STAND_IN(MPI_Recv) STAND_IN(MPI_Bcast) STAND_IN(MPI_Reduce) STAND_IN(MPI_Barrier)
STAND_IN(pvm_send) STAND_IN(pvm_mcast) STAND_IN(pvm_recv)
STAND_IN(read) STAND_IN(readv) STAND_IN(write) STAND_IN(send) STAND_IN(open) STAND_IN(close) STAND_IN(lseek) STAND_IN(poll)
STAND_IN(pthread_mutex_lock) STAND_IN(pthread_mutex_unlock) STAND_IN(pthread_cond_wait) STAND_IN(pthread_cond_signal)
STAND_IN(sem_wait) STAND_IN(malloc) STAND_IN(calloc) STAND_IN(free) STAND_IN(fork) STAND_IN(execve) STAND_IN(memcpy)

static long (*const functions[])(long, long, long) = {
    solve, norm, MPI_Send, MPI_Bsend, MPI_Recv, MPI_Bcast, MPI_Reduce, MPI_Barrier, pvm_send, pvm_mcast, pvm_recv,
    read, readv, write, send, open, close, lseek, poll, pthread_mutex_lock, pthread_mutex_unlock, pthread_cond_wait,
    pthread_cond_signal, sem_wait, malloc, calloc, free, fork, execve, memcpy};

static int call_all(void *times) {
  for (int i = 0; i < *(int *)times; i++) {
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
      functions[f](i, 8, 1);
    }
  }
  return 0;
}

int main(void) {
  int times;
  puts("ready");
  fflush(stdout);
  while (scanf("%d", &times) == 1) {
    thrd_t threads[2];
    for (int i = 0; i < 2; i++) {
      thrd_create(&threads[i], call_all, &times);
    }
    for (int i = 0; i < 2; i++) {
      thrd_join(threads[i], NULL);
    }
    puts("done");
    fflush(stdout);
  }
}
