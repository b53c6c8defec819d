/* Sends messages of two tags and takes two locks, as often as a line of stdin says: functions of its own, named as those of
 * libraries are. */
#include <stdio.h>

int locks[2];

__attribute__((noipa)) int MPI_Send(const void *from, int count, void *type, int to, int tag, void *others) {
  __asm__ volatile("" ::: "memory");
  return count + to + tag;
}

__attribute__((noipa)) int pthread_spin_lock(volatile int *lock) {
  __asm__ volatile("" ::: "memory");
  return *lock;
}

int main(void) {
  int times;
  int sum = 0;
  printf("ready %p %p\n", (void *)&locks[0], (void *)&locks[1]);
  fflush(stdout);
  while (scanf("%d", &times) == 1) {
    for (int i = 0; i < times; i++) {
      sum += MPI_Send("", 0, NULL, 0, 5, NULL) + MPI_Send("", 0, NULL, 0, 6, NULL) + MPI_Send("", 0, NULL, 0, 5, NULL);
      sum += pthread_spin_lock(&locks[0]) + pthread_spin_lock(&locks[1]) + pthread_spin_lock(&locks[1]);
    }
    puts("done");
    fflush(stdout);
  }
  return sum == 42;
}
