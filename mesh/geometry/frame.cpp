// This file expresses fields in the coordinates and units of a frame.
#include "mesh/geometry/frame.hpp"

#include <algorithm>
#include <array>

#include "mesh/field/field_program.hpp"

namespace tessera {
namespace {

// The program of a field in the coordinates and units of the frame.
std::shared_ptr<const FieldProgram> in_frame(const FieldProgram& program, const Frame& frame,
                                             double unit, double unit_of_u) {
  FieldProgram result = program;
  for (int d = 0; d < 3; ++d) result.origin[d] += program.length * frame.origin[d];
  result.length *= frame.length;
  result.divisor *= unit;
  result.unit_of_u *= unit_of_u;
  return std::make_shared<const FieldProgram>(std::move(result));
}

// Positions are moved a few at a time, which stay in the first cache.
void evaluate_at_physical(const std::function<void(const PointBlock&, double*)>& evaluate,
                          const Frame& frame, double unit_of_u, const PointBlock& points,
                          double* values) {
  constexpr std::size_t kPoints = 512;
  std::array<std::array<double, kPoints>, 4> moved;
  const double* const from[3] = {points.x, points.y, points.z};
  for (std::size_t first = 0; first < points.n; first += kPoints) {
    const std::size_t count = std::min(kPoints, points.n - first);
    for (int d = 0; d < 3; ++d) {
      for (std::size_t i = 0; i < count; ++i) {
        moved[d][i] = frame.origin[d] + frame.length * from[d][first + i];
      }
    }
    for (std::size_t i = 0; points.u != nullptr && i < count; ++i) {
      moved[3][i] = unit_of_u * points.u[first + i];
    }
    evaluate({count, moved[0].data(), moved[1].data(), moved[2].data(),
              points.u != nullptr ? moved[3].data() : nullptr},
             values + first);
  }
}

ScalarField without_factors(const ScalarField& field, const Frame& frame, double unit,
                            double unit_of_u) {
  if (field.constant) return constant_field(*field.constant / unit);
  const bool is_physical = frame.is_physical() && unit_of_u == 1.0;
  if (is_physical && unit == 1.0) {
    return {field.evaluate, std::nullopt, nullptr, field.program, field.depends_on_u};
  }
  return {[evaluate = field.evaluate, frame, unit, unit_of_u, is_physical](const PointBlock& points,
                                                                           double* values) {
            if (is_physical) {
              evaluate(points, values);
            } else {
              evaluate_at_physical(evaluate, frame, unit_of_u, points, values);
            }
            for (std::size_t i = 0; i < points.n; ++i) values[i] /= unit;
          },
          std::nullopt, nullptr,
          field.program == nullptr ? nullptr : in_frame(*field.program, frame, unit, unit_of_u),
          field.depends_on_u};
}

}  // namespace

ScalarField in_frame(const ScalarField& field, const Frame& frame, double unit, double unit_of_u) {
  ScalarField result = without_factors(field, frame, unit, unit_of_u);
  if (field.factors == nullptr) return result;
  std::array<ScalarField, 3> factors;
  for (int d = 0; d < 3; ++d) {
    factors[d] = without_factors((*field.factors)[d], frame, d == 0 ? unit : 1.0, 1.0);
  }
  result.factors = std::make_shared<const std::array<ScalarField, 3>>(std::move(factors));
  return result;
}

}  // namespace tessera
