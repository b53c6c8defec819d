/* Creation of the JVM and the call into Java. */
#ifndef MDL_JVM_H
#define MDL_JVM_H

#include <mdl/api.h>

/* Returns when there is no JVM, or Java has returned: why. */
void jvm_run(const struct mdl_api *api);

#endif
