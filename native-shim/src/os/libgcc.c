/*
 * The functions that the compiler calls for cleanups (process/mask_waits.c) are libgcc's. Linking libgcc_s would load it
 * into every short-lived command, a third of the shim's cost there. Code that unwinds has loaded an unwinder by then, so
 * these functions forward to it.
 */
#include "os/libgcc.h"

#include "os/next.h"

#include <dlfcn.h>
#include <unwind.h>

void *unwinder_symbol(const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (!symbol) {
    /* libc loads libgcc_s privately for pthread_exit and cancellation. */
    void *library = next()->dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    symbol = library ? dlsym(library, name) : NULL;
  }
  return symbol;
}

typedef _Unwind_Reason_Code personality(int, _Unwind_Action, _Unwind_Exception_Class, struct _Unwind_Exception *,
                                        struct _Unwind_Context *);
personality __gcc_personality_v0;

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                         struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
  personality *gcc = (personality *)unwinder_symbol("__gcc_personality_v0");
  return gcc ? gcc(version, actions, class, exception, context) : _URC_CONTINUE_UNWIND;
}

/* Reached only from where __gcc_personality_v0 led. */
void _Unwind_Resume(struct _Unwind_Exception *exception) {
  ((void (*)(struct _Unwind_Exception *))unwinder_symbol("_Unwind_Resume"))(exception);
  __builtin_unreachable();
}
