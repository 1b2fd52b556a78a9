// This file expresses fields in the coordinates and units of a frame.
#include "mesh/geometry/frame.hpp"

#include <algorithm>
#include <array>

#include "mesh/field/field_program.hpp"

namespace tessera {
namespace {

// The program of a field in the coordinates and units of the frame.
std::shared_ptr<const FieldProgram> in_frame(const FieldProgram& program, const Frame& frame,
                                             double unit) {
  FieldProgram result = program;
  for (int d = 0; d < 3; ++d) result.origin[d] += program.length * frame.origin[d];
  result.length *= frame.length;
  result.divisor *= unit;
  return std::make_shared<const FieldProgram>(std::move(result));
}

// Positions are moved a few at a time, which stay in the first cache.
void evaluate_at_physical(const std::function<void(const PointBlock&, double*)>& evaluate,
                          const Frame& frame, const PointBlock& points, double* values) {
  constexpr std::size_t kPoints = 512;
  std::array<std::array<double, kPoints>, 3> moved;
  const double* const from[3] = {points.x, points.y, points.z};
  for (std::size_t first = 0; first < points.n; first += kPoints) {
    const std::size_t count = std::min(kPoints, points.n - first);
    for (int d = 0; d < 3; ++d) {
      for (std::size_t i = 0; i < count; ++i) {
        moved[d][i] = frame.origin[d] + frame.length * from[d][first + i];
      }
    }
    evaluate({count, moved[0].data(), moved[1].data(), moved[2].data()}, values + first);
  }
}

ScalarField without_factors(const ScalarField& field, const Frame& frame, double unit) {
  if (field.constant) return constant_field(*field.constant / unit);
  if (frame.is_physical() && unit == 1.0) {
    return {field.evaluate, std::nullopt, nullptr, field.program};
  }
  return {[evaluate = field.evaluate, frame, unit](const PointBlock& points, double* values) {
            if (frame.is_physical()) {
              evaluate(points, values);
            } else {
              evaluate_at_physical(evaluate, frame, points, values);
            }
            for (std::size_t i = 0; i < points.n; ++i) values[i] /= unit;
          },
          std::nullopt, nullptr,
          field.program == nullptr ? nullptr : in_frame(*field.program, frame, unit)};
}

}  // namespace

ScalarField in_frame(const ScalarField& field, const Frame& frame, double unit) {
  ScalarField result = without_factors(field, frame, unit);
  if (field.factors == nullptr) return result;
  std::array<ScalarField, 3> factors;
  for (int d = 0; d < 3; ++d) {
    factors[d] = without_factors((*field.factors)[d], frame, d == 0 ? unit : 1.0);
  }
  result.factors = std::make_shared<const std::array<ScalarField, 3>>(std::move(factors));
  return result;
}

}  // namespace tessera
