/* Variable arguments of all classes, in registers and on the stack. */
#include "counted.h"

#include <stdarg.h>
#include <string.h>

struct pair {
  long first;
  double second;
};

PROBED double add_list(const char *types, va_list arguments) {
  COUNTED;
  double sum = 0;
  for (; *types; types++) {
    struct pair pair;
    switch (*types) {
      case 'i': sum += va_arg(arguments, int); break;
      case 'l': sum += (double)va_arg(arguments, long); break;
      case 'd': sum += va_arg(arguments, double); break;
      case 'D': sum += (double)va_arg(arguments, long double); break;
      case 's': sum += (double)strlen(va_arg(arguments, const char *)); break;
      case 'p':
        pair = va_arg(arguments, struct pair);
        sum += (double)pair.first * pair.second;
        break;
    }
  }
  return sum;
}

PROBED double add(const char *types, ...) {
  COUNTED;
  va_list arguments;
  va_start(arguments, types);
  double sum = add_list(types, arguments);
  va_end(arguments);
  return sum;
}

PROBED int format(char *out, size_t size, const char *pattern, ...) {
  COUNTED;
  va_list arguments;
  va_start(arguments, pattern);
  int length = vsnprintf(out, size, pattern, arguments);
  va_end(arguments);
  return length;
}

PROBED int main(void) {
  COUNTED;
  struct pair pair = {6, 7.5};
  char text[100];
  for (int i = 0; i < 100; i++) {
    printf("%.3f ", add("ildD", i, 2L * i, i / 8.0, i / 16.0L));
    printf("%.3f ", add("dddddddddddd", .5 + i, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5));
    printf("%.3f ", add("iiiiiiiidp", i, 1, 2, 3, 4, 5, 6, 7, 8.25, pair));
    printf("%.3f ", add("ps", pair, "characters"));
    printf("%d ", format(text, sizeof text, "%d %s %.2f %c %Lg", i, "text", i / 4.0, 'x', 2.5L));
    puts(text);
  }
  return 0;
}
