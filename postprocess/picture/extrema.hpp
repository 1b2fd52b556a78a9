// The least and the greatest value of a nodal function, and where they are.
#pragma once

#include <span>

#include "mesh/index.hpp"

namespace tessera {

/// A value of one node, or of several.
struct Extremum {
  double value;
  Index node;
  bool is_unique;
};

/// The least and the greatest of some values, those left out that are not finite.
struct Extrema {
  Extremum min;
  Extremum max;
  Index not_finite = 0;
};

/// Finds them in one pass, by all threads. Where nothing is finite, min is infinite and max minus
/// infinity.
Extrema find_extrema(std::span<const double> values);

}  // namespace tessera
