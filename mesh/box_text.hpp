// This function words how many there are of something along each axis of a box.
#pragma once

#include <string>

namespace tessera {

/// "4 x 6" of the first counts, as many as the box has axes.
template <class Counts>
std::string box_text(const Counts& counts, int dimension, const char* between = " x ") {
  std::string text;
  for (int d = 0; d < dimension; ++d) text += (d > 0 ? between : "") + std::to_string(counts[d]);
  return text;
}

}  // namespace tessera
