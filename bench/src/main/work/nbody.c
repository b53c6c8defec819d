/* The outer planets under gravity: few functions, called often, that do little but compute. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 5 };
struct body {
  double position[3], velocity[3], mass;
};
static struct body bodies[BODIES] = {
    {{0, 0, 0}, {0, 0, 0}, 39.48},
    {{4.84, -1.16, -0.10}, {0.61, 2.81, -0.03}, 0.0377},
    {{8.34, 4.12, -0.40}, {-1.01, 1.82, 0.01}, 0.0113},
    {{12.89, -15.11, -0.22}, {1.08, 0.87, -0.01}, 0.0017},
    {{15.38, -25.92, 0.18}, {0.98, 0.59, -0.03}, 0.0020},
};

static __attribute__((noinline)) void attract(struct body *a, struct body *b, double step) {
  double difference[3], square = 0;
  for (int i = 0; i < 3; i++) {
    difference[i] = a->position[i] - b->position[i];
    square += difference[i] * difference[i];
  }
  double magnitude = step / (square * sqrt(square));
  for (int i = 0; i < 3; i++) {
    a->velocity[i] -= difference[i] * b->mass * magnitude;
    b->velocity[i] += difference[i] * a->mass * magnitude;
  }
}

static __attribute__((noinline)) void advance(double step) {
  for (int a = 0; a < BODIES; a++) {
    for (int b = a + 1; b < BODIES; b++) {
      attract(&bodies[a], &bodies[b], step);
    }
  }
  for (int a = 0; a < BODIES; a++) {
    for (int i = 0; i < 3; i++) {
      bodies[a].position[i] += step * bodies[a].velocity[i];
    }
  }
}

int main(int argc, char **argv) {
  for (long steps = argc > 1 ? atol(argv[1]) : 0; steps > 0; steps--) {
    advance(0.001);
  }
  printf("%.6f\n", bodies[0].position[0]);
  return 0;
}
