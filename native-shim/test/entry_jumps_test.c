#include "code/entry_jumps.h"

#include "code/code.h"
#include "code/toggle.h"
#include "fixture.h"
#include "session/memory.h"

#include <sys/prctl.h>

/* ---- bytes that no thread executes: what is stored, and when. The torture has threads that execute them. */

enum { FIVE = 5, AROUND = 32, AT = 16, SITE = 0 };

static const uint64_t JUMP = 0xCC1122CCE9, OWN = 0x41E5894855;

static _Alignas(64) uint8_t bytes[AROUND];
static struct mdl_jump *jump;

/* `front` bytes of five lie before a boundary. */
static void make(uint8_t front, uint64_t off, uint8_t head, uint32_t sync) {
  fixture(true);
  session->sync = sync;
  session->tmax = sync == MDL_SYNC_TMAX ? 100 : 0;
  memset(bytes, 0xEE, sizeof bytes);
  uint8_t *at = bytes + AT - front;
  memcpy(at, &off, FIVE);
  jump = (struct mdl_jump *)session_allocate(sizeof *jump);
  *jump = (struct mdl_jump){.at = (uintptr_t)at, .on = JUMP, .off = off, .front = front, .head = head};
  sites[SITE].flags |= MDL_STEPS;
  sites[SITE].owner = (uintptr_t)jump;
}

static bool stands(uint64_t five) {
  uint8_t expected[AROUND];
  memset(expected, 0xEE, sizeof expected);
  memcpy(expected + (jump->at - (uintptr_t)bytes), &five, FIVE);
  return memcmp(bytes, expected, sizeof bytes) == 0 && jump->shown == (five == JUMP) && !jump->changes;
}

static void toggle(bool on) {
  uint32_t index = SITE;
  code_toggle(&index, 1, on);
  CHECK_EQUAL(code[SITE], on ? ENTRY_ON : OFF);
}

static void shouldPutAJumpThereAndTakeItAwayAndTouchNothingElse(void) {
  for (uint8_t front = 1; front < FIVE; front++) {
    for (uint8_t head = 0; head < front + 1; head++) {
      for (uint32_t sync = MDL_SYNC_TMAX; sync <= MDL_SYNC_MEMBARRIER; sync++) {
        make(front, OWN, head == front ? MDL_NO_HEAD : head, sync);
        CHECK(stands(OWN));
        toggle(true);
        CHECK(stands(JUMP));
        toggle(true);
        CHECK(stands(JUMP));
        toggle(false);
        CHECK(stands(OWN));
      }
    }
  }
}

static void shouldChangeAllOfABatch(void) {
  enum { SITES = 3 };
  static _Alignas(64) uint8_t places[SITES][AROUND];
  make(2, OWN, 0, MDL_SYNC_MEMBARRIER);
  struct mdl_jump *jumps = (struct mdl_jump *)session_allocate(SITES * sizeof *jumps);
  uint32_t indices[2 * SITES];
  for (uint32_t i = 0; i < SITES; i++) {
    memcpy(places[i] + AT - 2, &OWN, FIVE);
    jumps[i] = *jump;
    jumps[i].at = (uintptr_t)places[i] + AT - 2;
    sites[2 * i].flags |= MDL_STEPS;
    sites[2 * i].owner = (uintptr_t)&jumps[i];
    indices[i] = indices[SITES + i] = 2 * i;
  }
  for (int on = 1; on >= 0; on--) {
    code_toggle(indices, 2 * SITES, on); /* each twice */
    for (uint32_t i = 0; i < SITES; i++) {
      CHECK(memcmp(places[i] + AT - 2, on ? &JUMP : &OWN, FIVE) == 0);
      CHECK_EQUAL(jumps[i].shown, on);
    }
  }
}

/* One side alone changes: no byte has to trap, so no row is needed, and nobody waits. */
static void shouldStoreOnceWhereNothingBehindTheBoundaryChanges(void) {
  uint64_t off = (JUMP & ~0xFFFFULL) | 0x4855;
  make(2, off, 0, MDL_SYNC_TMAX);
  session->tmax = UINT64_MAX / 4; /* it would not end */
  toggle(true);
  CHECK(stands(JUMP));
  toggle(false);
  CHECK(stands(off));
}

static void shouldStayWhileItIsHeld(void) {
  make(3, OWN, 0, MDL_SYNC_MEMBARRIER);
  struct jumps_batch batch = {0};
  jumps_hold(&batch, &sites[SITE], true);
  jumps_end(&batch);
  CHECK(stands(JUMP));
  toggle(true);
  toggle(false);
  CHECK(stands(JUMP));
  jumps_hold(&batch, &sites[SITE], false);
  jumps_end(&batch);
  CHECK(stands(OWN));
}

static void shouldStayAsItIsWithoutAWayToWait(void) {
  make(1, OWN, 0, MDL_SYNC_NONE);
  toggle(true);
  CHECK(stands(OWN));
}

static void shouldWaitWithoutAClockThatMayBeRead(void) {
  make(1, OWN, 0, MDL_SYNC_MEMBARRIER);
  struct jumps_batch batch = {0};
  CHECK_EQUAL(prctl(PR_SET_TSC, PR_TSC_SIGSEGV), 0);
  jumps_hold(&batch, &sites[SITE], true);
  jumps_end(&batch);
  CHECK_EQUAL(prctl(PR_SET_TSC, PR_TSC_ENABLE), 0);
  CHECK(stands(JUMP));
}

static void shouldBeThereBeforeAForkAndStayWithMembarrier(void) {
  make(4, OWN, 0, MDL_SYNC_TMAX);
  jumps_before_fork(); /* T_max reaches the child */
  CHECK(stands(OWN));
  make(4, OWN, 0, MDL_SYNC_MEMBARRIER);
  jumps_before_fork();
  CHECK(stands(JUMP));
  toggle(true);
  toggle(false);
  CHECK(stands(JUMP));
  make(4, OWN, 0, MDL_SYNC_TMAX);
  toggle(true);
  toggle(false);
  CHECK(stands(OWN));
}

TESTS({"shouldPutAJumpThereAndTakeItAwayAndTouchNothingElse", shouldPutAJumpThereAndTakeItAwayAndTouchNothingElse},
      {"shouldChangeAllOfABatch", shouldChangeAllOfABatch},
      {"shouldStoreOnceWhereNothingBehindTheBoundaryChanges", shouldStoreOnceWhereNothingBehindTheBoundaryChanges},
      {"shouldStayWhileItIsHeld", shouldStayWhileItIsHeld},
      {"shouldStayAsItIsWithoutAWayToWait", shouldStayAsItIsWithoutAWayToWait},
      {"shouldWaitWithoutAClockThatMayBeRead", shouldWaitWithoutAClockThatMayBeRead},
      {"shouldBeThereBeforeAForkAndStayWithMembarrier", shouldBeThereBeforeAForkAndStayWithMembarrier})
