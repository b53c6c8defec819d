/* Does what the dynamic linker may do late: stores the address of a function in the word that its calls lead through. A line
 * of stdin says how often to call it; 0, to store, and to wait until the word leads elsewhere. */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 2000 };

extern ElfW(Dyn) _DYNAMIC[];

static ElfW(Addr) entry(ElfW(Sxword) tag) {
  const ElfW(Dyn) *at = _DYNAMIC;
  while (at->d_tag != tag) at++;
  return at->d_un.d_ptr;
}

/* Where the program is not moved, addresses are those of the file. */
static void *volatile *word_of(const char *function) {
  const ElfW(Rela) *relocation = (const ElfW(Rela) *)entry(DT_JMPREL);
  const ElfW(Sym) *symbols = (const ElfW(Sym) *)entry(DT_SYMTAB);
  const char *names = (const char *)entry(DT_STRTAB);
  while (strcmp(names + symbols[ELF64_R_SYM(relocation->r_info)].st_name, function) != 0) relocation++;
  return (void *volatile *)relocation->r_offset;
}

int main(void) {
  void *volatile *word = word_of("labs");
  volatile long sum = labs(-1); /* now the dynamic linker has stored it */
  void *resolved = *word;
  long times;
  puts("ready");
  fflush(stdout);
  while (scanf("%ld", &times) == 1) {
    if (times == 0) {
      *word = resolved;
      for (int i = 0; i < PATIENCE && *word == resolved; i++) usleep(1000);
    }
    for (long i = 0; i < times; i++) sum += labs(-i);
    puts(*word == resolved ? "direct" : "led");
    fflush(stdout);
  }
  return 0;
}
