/* The stub of a whole function (org.mdlagent.arch.x86.emit.FunctionStub). */
#ifndef MDL_STUB_H
#define MDL_STUB_H

/* Its size, a multiple of which is its address; where its site's address is in it, and where what it calls returns to. */
#define STUB_BYTES 64
#define STUB_SITE 14
#define STUB_ENTERED 28
#define STUB_RETURN 39

/* Its first instruction, in whose place a jump to the counter stands at times. */
#define STUB_HEAD 0xFFFFFFD8249C894Cu

#endif
