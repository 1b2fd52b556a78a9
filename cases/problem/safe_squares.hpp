// This function says whether the squares of a vector's entries can be summed up.
#pragma once

namespace tessera {

/// Whether no square of what matters in a vector of this norm is lost below 1e-308 or beyond 1e308.
constexpr bool has_safe_squares(double norm) { return norm > 0x1p-400 && norm < 0x1p500; }

}  // namespace tessera
