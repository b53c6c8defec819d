/* What a fork leaves of a JVM that was starting in the parent: its libraries, without its threads and its heap. */
#ifndef MDL_JVM_REMAINS_H
#define MDL_JVM_REMAINS_H

/* Unloads these libraries, so that this process can have a JVM of its own. */
void jvm_remains_unload(void);

#endif
