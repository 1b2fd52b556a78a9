#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace tessera {

/// n positions, one array an axis; z is valid (zeros) in 2D as well.
struct PointBlock {
  std::size_t n;
  const double* x;
  const double* y;
  const double* z;
};

/// A function of position, evaluated for many points at once.
struct ScalarField {
  /// Writes n values. Called from several threads at a time.
  std::function<void(const PointBlock&, double* values)> evaluate;
  /// Set where the function does not depend on position: callers may then skip evaluation.
  std::optional<double> constant;
};

/// The field that has this value everywhere.
inline ScalarField constant_field(double value) {
  return {[value](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) values[i] = value;
          },
          value};
}

/// Whether the field is known to vanish everywhere.
inline bool is_zero(const ScalarField& field) { return field.constant == 0.0; }

}  // namespace tessera
