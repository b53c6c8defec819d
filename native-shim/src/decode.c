#include "shim.h"

#include <Zydis/Decoder.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

typedef ZyanStatus (*decoder_init)(ZydisDecoder *, ZydisMachineMode, ZydisStackWidth);
typedef ZyanStatus (*decoder_enable_mode)(ZydisDecoder *, ZydisDecoderMode, ZyanBool);
typedef ZyanStatus (*decode_instruction)(const ZydisDecoder *, ZydisDecoderContext *, const void *, ZyanUSize,
                                         ZydisDecodedInstruction *);

static decode_instruction instruction_at;
static ZydisDecoder decoder;

/* Beside libmdlagent.so first; a library that is loaded already serves the other's need of that name. */
static void *load(const char *name) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", library_directory, name);
  void *library = NULL;
  if (library_directory[0] && length > 0 && (size_t)length < sizeof path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool load_decoder(void) {
  load("libZycore.so.1.4");
  void *library = load("libZydis.so.4.0");
  if (!library) {
    log_line("no instruction decoder: ", dlerror(), NULL);
    return false;
  }
  decoder_init init;
  decoder_enable_mode enable_mode;
  decode_instruction instruction;
  *(void **)&init = dlsym(library, "ZydisDecoderInit");
  *(void **)&enable_mode = dlsym(library, "ZydisDecoderEnableMode");
  *(void **)&instruction = dlsym(library, "ZydisDecoderDecodeInstruction");
  if (!init || !enable_mode || !instruction ||
      !ZYAN_SUCCESS(init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(enable_mode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE))) {
    log_line("no instruction decoder: libZydis.so.4.0 is not what it should be", NULL);
    return false;
  }
  instruction_at = instruction;
  return true;
}

/* Called by the agent thread alone. */
int64_t decode_lengths(uint64_t code, int64_t length, uint8_t *lengths) {
  if (!instruction_at && !load_decoder()) {
    return -ENOSYS;
  }
  memset(lengths, 0, (size_t)length);
  int64_t at = 0;
  while (at < length) {
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(instruction_at(&decoder, NULL, (const void *)(code + (uint64_t)at), (ZyanUSize)(length - at),
                                     &instruction))) {
      break;
    }
    lengths[at] = instruction.length;
    at += instruction.length;
  }
  return at;
}
