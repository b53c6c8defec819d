/* Remains of a JVM that was starting in the parent at a fork: its libraries, without its threads and heap. */
#ifndef MDL_JVM_REMAINS_H
#define MDL_JVM_REMAINS_H

/* Unloads these libraries, so that this process can start its own JVM. */
void jvm_remains_unload(void);

#endif
