/*
 * Lets XRay's run-time library patch the whole program and undo that, in turn, as often as the argument says.
 *
 * Prints the number of functions that it knows, and then the ticks that each took.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { SUCCESS = 1 }; /* of XRayPatchingStatus */

int __xray_patch(void);
int __xray_unpatch(void);
size_t __xray_max_function_id(void);

__attribute__((xray_never_instrument)) int main(int count, char **arguments) {
  int toggles = count > 1 ? atoi(arguments[1]) : 0;
  printf("%zu\n", __xray_max_function_id());
  for (int i = 0; i < toggles; i++) {
    uint64_t start = __rdtsc();
    int status = i % 2 == 0 ? __xray_patch() : __xray_unpatch();
    uint64_t end = __rdtsc();
    if (status != SUCCESS) {
      return 1;
    }
    printf("%lu\n", (unsigned long)(end - start));
  }
  return 0;
}
