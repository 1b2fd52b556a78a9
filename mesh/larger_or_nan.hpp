// This function finds largest numbers among which a NaN must not be lost.
#pragma once

#include <cmath>

namespace tessera {

/// The larger of two numbers, and NaN if one is.
inline double larger_or_nan(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

}  // namespace tessera
