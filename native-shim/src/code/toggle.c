#include "code/toggle.h"

#include "code/code.h"
#include "code/entry_jumps.h"
#include "session/life.h"
#include "session/memory.h"

int64_t code_toggle(const uint32_t *sites, int64_t n, int64_t on) {
  struct mdl_site *all = (struct mdl_site *)session->sites;
  if (agent_is_dead()) {
    return 0;
  }
  for (int64_t i = 0; i < n; i++) {
    code_record(&all[sites[i]], on);
  }
  code_fence();
  struct jumps_batch jumps = {0};
  for (int64_t i = 0; i < n; i++) {
    code_confirm(&all[sites[i]]);
    jumps_add(&jumps, &all[sites[i]]);
  }
  jumps_end(&jumps);
  __atomic_fetch_add(&session->toggles, (uint64_t)n, __ATOMIC_RELAXED);
  if (agent_is_dead()) {
    code_switch_all_off(); /* the agent died meanwhile: its loop may have run before these stores */
  }
  return n;
}
