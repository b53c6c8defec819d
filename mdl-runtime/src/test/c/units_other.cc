// The other unit of units_main.cc: what both need is in both, and one of them is kept.
#include "units.h"

int other(const std::string &text)
{
  Pile pile;
  return bump(pile.add(text));
}
