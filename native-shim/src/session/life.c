#include "session/life.h"

#include <stdatomic.h>

static _Atomic bool dead;

bool agent_is_dead(void) { return atomic_load(&dead); }

bool life_ends(void) { return !atomic_exchange(&dead, true); }
