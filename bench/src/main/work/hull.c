/* The convex hull of random points, again and again: sorting by a comparison, and a scan. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 100000 };
struct point {
  int64_t x, y;
};
static struct point points[POINTS], hull[2 * POINTS];

static __attribute__((noinline)) int64_t turn(const struct point *a, const struct point *b, const struct point *c) {
  return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

static int by_place(const void *a, const void *b) {
  const struct point *p = a, *q = b;
  return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static __attribute__((noinline)) int scan(int size, int first, int last, int step) {
  int bottom = size;
  for (int i = first; i != last; i += step) {
    while (size >= bottom + 2 && turn(&hull[size - 2], &hull[size - 1], &points[i]) <= 0) {
      size--;
    }
    hull[size++] = points[i];
  }
  return size - 1;
}

static __attribute__((noinline)) int convex_hull(uint64_t seed) {
  for (int i = 0; i < POINTS; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    points[i] = (struct point){(int64_t)(seed >> 44), (int64_t)(seed >> 20 & 0xFFFFF)};
  }
  qsort(points, POINTS, sizeof *points, by_place);
  return scan(scan(0, 0, POINTS, 1), POINTS - 1, -1, -1);
}

int main(int argc, char **argv) {
  long sum = 0;
  for (long round = argc > 1 ? atol(argv[1]) : 0; round > 0; round--) {
    sum += convex_hull((uint64_t)round);
  }
  printf("%ld\n", sum);
  return 0;
}
