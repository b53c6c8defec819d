/* Has a getenv of its own, and says what options for JVMs it sees. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *getenv(const char *name) {
  size_t length = strlen(name);
  for (char **at = environ; *at; at++)
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  return NULL;
}

int main(void) {
  printf("%s %s\n", getenv("_JAVA_OPTIONS"), getenv("JDK_JAVA_OPTIONS"));
  return strcmp(getenv("JAVA_TOOL_OPTIONS"), getenv("_JAVA_OPTIONS")) != 0;
}
