/* Identification of the function called at a site. */
#ifndef MDL_FUNCTIONS_H
#define MDL_FUNCTIONS_H

#include <mdl/layout.h>

/*
 * A site whose function the scan could not determine learns it from its first call. If later calls differ (the compiler
 * merged the ends of several functions), the site is marked as shared and stays on. NULL if no known function has the
 * address.
 */
struct mdl_function *record_identify(struct mdl_site *site, uint64_t address);

#endif
