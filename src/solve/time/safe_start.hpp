// A case in time is refused where squares of its values are not numbers of double precision.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cases/problem/safe_squares.hpp"
#include "mesh/errors.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/time/diffusion.hpp"
#include "src/solve/vector_conversion.hpp"

namespace tessera {

/// Steps are judged by squares: those of the solution w at t or of its rate must be in range,
/// unless both are 0. Evaluates the rate where w alone does not tell. All ranks call it together.
/// @throws BadFieldValue, of `problem`
template <class Space>
void require_safe_squares(Diffusion<Space>& diffusion, double t, const Vector<double, Space>& w) {
  if (has_safe_squares(std::sqrt(dot(w, w)))) return;
  Vector<double, Space> rate(w.layout());
  diffusion.evaluate(t, w, rate);
  if (has_safe_squares(std::sqrt(dot(rate, rate)))) return;
  const double largest = std::max(largest_entry(on_host(w)), largest_entry(on_host(rate)));
  if (largest == 0.0) return;
  throw BadFieldValue(
      BadFieldValue::WholeText{
          fmt::format("values and their changes are of size {:.2g} at the start: the squares by "
                      "which steps are judged leave the range of double precision; choose other "
                      "units for u",
                      largest),
          "problem"},
      Point{}, largest);
}

}  // namespace tessera
