/* Works until the file exists that it is given, for a minute of CPU time at most; then it exits with 3. */
#include <time.h>
#include <unistd.h>

enum { CPU_SECONDS_MAX = 60, EXIT_STATUS = 3 };

__attribute__((noipa)) int leaf(int n) {
  volatile int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += i;
  }
  return sum;
}

__attribute__((noipa)) int work(int n) { return leaf(n) + leaf(n / 2); }

int main(int count, char **arguments) {
  while (count > 1 && access(arguments[1], F_OK) != 0 && clock() < (clock_t)CPU_SECONDS_MAX * CLOCKS_PER_SEC) {
    for (int i = 0; i < 1000; i++) {
      work(300);
    }
  }
  return EXIT_STATUS;
}
