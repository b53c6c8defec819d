/* Slices: what is on when, and which calls count. */
#include "record/slices.h"

#include "fixture.h"
#include "record/program_cpu.h"
#include "record/rate_spread.h"
#include "record/record.h"

#include <math.h>

enum { LENGTH = 1000, SETTLING = 300, PERIOD = 1000000 };

static uint32_t list[] = {1, 2, 3};
static uint64_t apart[FUNCTIONS];
static uint64_t begun[FUNCTIONS];
static uint32_t means[FUNCTIONS];
static struct mdl_rate_spread spreads[FUNCTIONS];
static struct mdl_slice_plan plan;

/* For all functions in the list. */
static void follow(uint64_t step, bool timed) {
  fixture(false);
  session->flags |= MDL_MIXED;
  memset(apart, 0, sizeof apart);
  memset(spreads, 0, sizeof spreads);
  plan = (struct mdl_slice_plan){.apart = (uintptr_t)apart,
                                 .means = (uintptr_t)means,
                                 .begun = (uintptr_t)begun,
                                 .spreads = (uintptr_t)spreads,
                                 .ticks_per_nano = 1e6, /* no slice ends by itself in a test */
                                 .of = {{.functions = (uintptr_t)list,
                                         .count = 3,
                                         .step = step,
                                         .timed = timed,
                                         .period_nanos = PERIOD,
                                         .settling_nanos = SETTLING,
                                         .length_nanos = LENGTH}}};
  slices_plan(NULL);
  slices_plan(&plan);
}

static bool opened(uint64_t now) {
  uint64_t settling;
  bool is_due = slices_open(now, &settling);
  CHECK(!is_due || settling == SETTLING);
  return is_due;
}

static void call(int function) { record_sample_entry_slow(entry_of(function), address_of(function), 0x7f0000000000); }

static uint64_t calls(int function) { return ((const uint64_t *)mdl_self->calls)[function]; }

static void shouldHaveNoSlicesWithoutAPlan(void) {
  fixture(false);
  slices_plan(NULL);
  CHECK_EQUAL(slices_next(), UINT64_MAX);
  CHECK(!opened(1));
}

static void shouldSwitchEntriesOnForASliceAndLeaveExitsOff(void) {
  follow(3, false);
  CHECK(opened(PERIOD));
  CHECK_EQUAL(code[2], ENTRY_ON);
  CHECK_EQUAL(code[3], OFF);
  CHECK_EQUAL(code[4], ENTRY_ON);
  CHECK_EQUAL(code[0], OFF);
  CHECK_EQUAL(functions[1].state, MDL_SAMPLING);
  CHECK_EQUAL(slices_begin(), LENGTH);
  slices_close();
  CHECK_EQUAL(code[2], OFF);
  CHECK_EQUAL(code[4], OFF);
  CHECK_EQUAL(functions[1].state, MDL_EXPIRED);
  CHECK_EQUAL(plan.of[0].slices[0], 1);
}

static void shouldNotCountCallsWhileASliceSettles(void) {
  follow(3, false);
  opened(PERIOD);
  call(1);
  call(1);
  slices_begin();
  call(1);
  call(2);
  slices_close();
  CHECK_EQUAL(calls(1), 3);
  CHECK_EQUAL(calls(1) - apart[1], 1);
  CHECK_EQUAL(calls(2) - apart[2], 1);
  opened(2 * PERIOD);
  call(1);
  slices_begin();
  call(1);
  slices_close();
  CHECK_EQUAL(calls(1) - apart[1], 2);
}

/* Counting needs no warm caches. */
static void shouldCountAtOnceWhereASliceDoesNotSettle(void) {
  follow(3, false);
  plan.of[0].settling_nanos = 0;
  uint64_t settling = 1;
  CHECK(slices_open(PERIOD, &settling));
  CHECK_EQUAL(settling, 0);
  CHECK_EQUAL(slices_begin(), LENGTH);
  call(1);
  slices_close();
  CHECK_EQUAL(calls(1) - apart[1], 1);
}

static void shouldTimeCallsInDurationSlicesAndCountThemApart(void) {
  follow(3, true);
  means[1] = 4;
  opened(PERIOD);
  CHECK_EQUAL(code[3], EXIT_ON);
  CHECK_EQUAL(functions[1].mean, 0);
  call(1);
  slices_begin();
  CHECK_EQUAL(functions[1].mean, 4);
  CHECK_EQUAL(functions[1].weight, 4 * PERIOD / LENGTH);
  CHECK_EQUAL(functions[1].remaining, 1);
  call(1);
  slices_close();
  CHECK_EQUAL(functions[1].mean, 0);
  CHECK_EQUAL(functions[1].remaining, 0);
  CHECK_EQUAL(calls(1), 2);
  CHECK_EQUAL(calls(1) - apart[1], 0);
}

/* 300 calls while it settles make a thousand in the slice: one of 15 is 64 or so. */
static void shouldTimeFewerCallsInABurst(void) {
  follow(3, true);
  means[1] = 4;
  opened(PERIOD);
  for (int i = 0; i < SETTLING; i++) {
    call(1);
  }
  slices_begin();
  CHECK_EQUAL(functions[1].mean, 15);
  CHECK_EQUAL(functions[1].weight, 15 * PERIOD / LENGTH);
  slices_close();
}

/* Probes go off earlier, and the program's CPU time goes on. */
static void shouldNotCountCallsOfASliceThatIsClosedTooLate(void) {
  follow(3, false);
  plan.ticks_per_nano = 0; /* each is late */
  opened(PERIOD);
  call(1);
  slices_begin();
  call(1);
  slices_close();
  CHECK_EQUAL(plan.of[0].slices[0], 0);
  CHECK_EQUAL(plan.of[0].cpu_nanos[0], 0);
  CHECK_EQUAL(calls(1), apart[1]);
}

static void shouldTakeFunctionsInTurn(void) {
  follow(2, false);
  for (uint64_t i = 0; i < 4; i++) {
    CHECK(opened((i + 1) * PERIOD));
    CHECK_EQUAL(code[2], i % 2 == 0 ? ENTRY_ON : OFF);
    CHECK_EQUAL(code[4], i % 2 == 0 ? ENTRY_ON : OFF);
    CHECK_EQUAL(code[6], i % 2 == 0 ? OFF : ENTRY_ON);
    slices_begin();
    slices_close();
  }
  CHECK_EQUAL(plan.of[0].slices[0], 2);
  CHECK_EQUAL(plan.of[0].slices[1], 2);
}

static void shouldBeginWithAStepWhenThePlanHasOthers(void) {
  follow(1, false);
  opened(PERIOD);
  slices_begin();
  slices_close();
  plan.of[0].step = 2;
  opened(2 * PERIOD);
  CHECK_EQUAL(code[2], ENTRY_ON);
  CHECK_EQUAL(code[4], ENTRY_ON);
  CHECK_EQUAL(code[6], OFF);
  slices_begin();
  slices_close();
  CHECK_EQUAL(plan.of[0].slices[0], 2);
}

static void shouldBeginAtARandomPlaceOfEachPeriod(void) {
  follow(3, false);
  uint64_t now = PERIOD;
  uint64_t halves[2] = {0, 0};
  for (int i = 0; i < 200; i++) {
    CHECK(opened(now));
    slices_begin();
    slices_close();
    uint64_t next = slices_next();
    CHECK(next < now + 2 * (uint64_t)PERIOD);
    CHECK(next > now);
    halves[(next % PERIOD) * 2 / PERIOD]++;
    CHECK(!opened(next - 1));
    now = next;
  }
  CHECK(halves[0] > 50 && halves[1] > 50); /* fails by chance in one of 10^12 runs */
}

static void shouldLeaveOutPeriodsInWhichTheAgentHadOtherThingsToDo(void) {
  follow(3, false);
  opened(PERIOD);
  slices_begin();
  slices_close();
  uint64_t late = 1000 * (uint64_t)PERIOD;
  CHECK(opened(late));
  slices_begin();
  slices_close();
  CHECK(slices_next() >= late);
}

static void shouldKeepASliceOfAClosedPlanClosed(void) {
  follow(3, false);
  opened(PERIOD);
  slices_begin();
  slices_close();
  slices_plan(NULL);
  CHECK(!opened(100 * (uint64_t)PERIOD));
  CHECK_EQUAL(code[2], OFF);
}

/* Rates of 1, 3 and 3 calls a microsecond: squared differences of 4 and 0, in times of 0.2 ms. */
static void shouldSumSquaredDifferencesOfNeighbouringRates(void) {
  struct mdl_rate_spread spread = {0};
  rate_spread_add(&spread, 200, 200000);
  CHECK_EQUAL(spread.pairs, 0);
  rate_spread_add(&spread, 600, 200000);
  rate_spread_add(&spread, 600, 200000);
  CHECK_EQUAL(spread.pairs, 2);
  CHECK(fabs(spread.squares - 4e-6 * 100000) < 1e-9);
}

static void shouldJoinSlicesInWhichTheProgramHardlyRan(void) {
  struct mdl_rate_spread spread = {0};
  rate_spread_add(&spread, 200, 200000);
  rate_spread_add(&spread, 50, 1);
  CHECK_EQUAL(spread.pairs, 0);
  rate_spread_add(&spread, 150, 199999);
  CHECK_EQUAL(spread.pairs, 1);
  CHECK(spread.squares < 1e-12);
}

TESTS({"shouldSumSquaredDifferencesOfNeighbouringRates", shouldSumSquaredDifferencesOfNeighbouringRates},
      {"shouldJoinSlicesInWhichTheProgramHardlyRan", shouldJoinSlicesInWhichTheProgramHardlyRan},
      {"shouldHaveNoSlicesWithoutAPlan", shouldHaveNoSlicesWithoutAPlan},
      {"shouldSwitchEntriesOnForASliceAndLeaveExitsOff", shouldSwitchEntriesOnForASliceAndLeaveExitsOff},
      {"shouldNotCountCallsWhileASliceSettles", shouldNotCountCallsWhileASliceSettles},
      {"shouldCountAtOnceWhereASliceDoesNotSettle", shouldCountAtOnceWhereASliceDoesNotSettle},
      {"shouldTimeCallsInDurationSlicesAndCountThemApart", shouldTimeCallsInDurationSlicesAndCountThemApart},
      {"shouldTimeFewerCallsInABurst", shouldTimeFewerCallsInABurst},
      {"shouldNotCountCallsOfASliceThatIsClosedTooLate", shouldNotCountCallsOfASliceThatIsClosedTooLate},
      {"shouldTakeFunctionsInTurn", shouldTakeFunctionsInTurn},
      {"shouldBeginWithAStepWhenThePlanHasOthers", shouldBeginWithAStepWhenThePlanHasOthers},
      {"shouldBeginAtARandomPlaceOfEachPeriod", shouldBeginAtARandomPlaceOfEachPeriod},
      {"shouldLeaveOutPeriodsInWhichTheAgentHadOtherThingsToDo", shouldLeaveOutPeriodsInWhichTheAgentHadOtherThingsToDo},
      {"shouldKeepASliceOfAClosedPlanClosed", shouldKeepASliceOfAClosedPlanClosed})
