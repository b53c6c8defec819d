// Functions whose names are mangled: members, overloads, operators, constructors.
#include "counted.h"

namespace geometry {
struct Shape {
  PROBED Shape();
  virtual long area(long scale) const = 0;
};

struct Square final : Shape {
  long side;
  PROBED explicit Square(long length);
  PROBED ~Square();
  PROBED long area(long scale) const override;
  PROBED Square operator+(const Square &other) const;
  PROBED static long unit();
};

Shape::Shape() { COUNTED_AS("geometry::Shape::Shape()"); }
Square::Square(long length) : side(length) { COUNTED_AS("geometry::Square::Square(long)"); }
Square::~Square() { COUNTED_AS("geometry::Square::~Square()"); }
long Square::area(long scale) const {
  COUNTED_AS("geometry::Square::area(long) const");
  return side * side * scale;
}
Square Square::operator+(const Square &other) const {
  COUNTED_AS("geometry::Square::operator+(geometry::Square const&) const");
  return Square(side + other.side);
}
long Square::unit() {
  COUNTED_AS("geometry::Square::unit()");
  return 1;
}

namespace {
PROBED long hidden(long x) {
  COUNTED_AS("geometry::(anonymous namespace)::hidden(long)");
  return x ^ 3;
}
}  // namespace

PROBED long measure(const Shape &shape) {
  COUNTED_AS("geometry::measure(geometry::Shape const&)");
  return hidden(shape.area(2));
}
PROBED long measure(const Shape &shape, int times) {
  COUNTED_AS("geometry::measure(geometry::Shape const&, int)");
  return shape.area(times) + Square::unit();
}
}  // namespace geometry

int main() {
  COUNTED;
  long sum = 0;
  for (int i = 0; i < 50; i++) {
    geometry::Square one(i), two(7);
    geometry::Square both = one + two;
    sum += geometry::measure(both) + geometry::measure(one, i);
  }
  printf("%ld\n", sum);
  return 0;
}
