/* Writes the offsets and constants that C and Java share as Java sources: mdl-java-layout DIRECTORY. layout.inc lists them (layout.awk),
 * the C compiler knows their values. */
#include "source.h"

#include <mdl/api.h>

static FILE *file;

static void end_class(const char *name) {
  if (file) {
    fprintf(file, "\n    private %s() {}\n}\n", name);
    source_close(file);
  }
}

static void begin_class(const char *directory, const char *type, const char *name) {
  file = source_open(directory, "org.mdlagent.arch.layout", name, "mdl/layout.h and mdl/api.h");
  fprintf(file, "/// Byte offsets in `struct %s`, and its constants. The C header documents each.\npublic final class %s {\n", type,
          name);
}

static void offset(const char *name, size_t value) {
  fprintf(file, "    public static final long %s = %zu;\n", name, value);
}

/* 32-bit constants are ints in Java. */
static void constant(const char *name, unsigned long long value, size_t size) {
  if (size == sizeof(int)) {
    fprintf(file, "    public static final int %s = %d;\n", name, (int)value);
  } else {
    fprintf(file, "    public static final long %s = 0x%llxL;\n", name, value);
  }
}

#define CLASS(type, name) \
  end_class(last);        \
  last = name;            \
  begin_class(arguments[1], type, name);
#define FIELD(type, field, name) offset(name, offsetof(struct type, field));
#define BYTES(type, field, name) constant(name, sizeof((struct type *)0)->field, sizeof(int));
#define SIZE(type) offset("SIZE", sizeof(struct type));
#define CONSTANT(value, name) constant(name, (unsigned long long)(value), sizeof(value));

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: mdl-java-layout DIRECTORY\n");
    return 2;
  }
  const char *last = NULL;
#include "layout.inc"
  end_class(last);
  return 0;
}
