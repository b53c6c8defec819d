/* The stub of a whole function (org.mdlagent.arch.x86.emit.FunctionStub). */
#ifndef MDL_STUB_H
#define MDL_STUB_H

/* Size and alignment; offsets of the site's address, and of the return addresses of the calls of the entry and the body. */
#define STUB_BYTES 64
#define STUB_SITE 14
#define STUB_ENTERED 28
#define STUB_RETURN 39

/* The first instruction, which client.c replaces by a jump to the counter. */
#define STUB_HEAD 0xFFFFFFD8249C894Cu

#endif
