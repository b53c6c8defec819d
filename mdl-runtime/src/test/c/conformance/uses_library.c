/* Calls a library that it is linked with. */
#include "counted.h"

int library_main(void);

int main(void) {
  COUNTED;
  return library_main();
}
