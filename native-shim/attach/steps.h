/* Where the test of the injector ends it by SIGKILL, or gives it a defect. Nothing of this is in the program that is installed. */
#ifndef MDL_STEPS_H
#define MDL_STEPS_H

#ifdef MDL_STEPS
#include <stdbool.h>

/* STEP(n) of the first borrowed thread is 0n in the variable MDL_INJECT_DIES, of the second 1n. */
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
