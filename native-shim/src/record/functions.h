/* Which function a call at a site is of. */
#ifndef MDL_FUNCTIONS_H
#define MDL_FUNCTIONS_H

#include <mdl/layout.h>

/*
 * A site whose function the scan could not tell learns it from its first call. One whose calls turn out to vary (the compiler
 * merged the ends of several functions) is told so, and then stays on. NULL when the address is that of no known function.
 */
struct mdl_function *record_identify(struct mdl_site *site, uint64_t address);

#endif
