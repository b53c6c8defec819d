/* Points at which the injector's test kills it by SIGKILL, or injects a defect. Not compiled into the installed program. */
#ifndef MDL_STEPS_H
#define MDL_STEPS_H

#ifdef MDL_STEPS
#include <stdbool.h>

/* MDL_INJECT_DIES=0n kills at STEP(n) of the first borrowed thread, 1n at that of the second. */
void step(int number);
/* Whether MDL_INJECT_TWIN names this defect. */
bool is_twin(const char *defect);
#define STEP(number) step(number)
#define TWIN(defect) is_twin(defect)
#else
#define STEP(number) ((void)0)
#define TWIN(defect) false
#endif

#endif
