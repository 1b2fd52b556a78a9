// A ScalarField is a function of position that is evaluated for many points at once.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace tessera {

struct FieldProgram;

/// n positions, with one array per axis; z is valid in 2D as well and holds zeros.
struct PointBlock {
  std::size_t n;
  const double* x;
  const double* y;
  const double* z;
  /// The solution there; null where it is not known.
  const double* u = nullptr;
};

/// A function of position, evaluated for many points at once. It may depend on the solution u as
/// well, and is then asked for at points with u only.
struct ScalarField {
  /// Writes n values; it is called from several threads at a time.
  std::function<void(const PointBlock&, double* values)> evaluate;
  /// Set where the function depends on nothing: callers may then skip evaluation.
  std::optional<double> constant;
  /// Set where the function is known to be a product of functions of one coordinate each: factor d
  /// depends on coordinate d only.
  std::shared_ptr<const std::array<ScalarField, 3>> factors = nullptr;
  /// Set where the function is known as a program, which gives its derivatives as well.
  std::shared_ptr<const FieldProgram> program = nullptr;
  /// Such a field has no factors: it is a function of one coordinate at no given u.
  bool depends_on_u = false;
};

/// The field that has this value everywhere.
inline ScalarField constant_field(double value) {
  return {[value](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) values[i] = value;
          },
          value};
}

/// Whether the field is known to be a product of functions of one coordinate each.
inline bool is_separable(const ScalarField& field) {
  return field.constant.has_value() || field.factors != nullptr;
}

/// Whether the field can be evaluated by position without calling evaluate().
inline bool has_program(const ScalarField& field) {
  return field.constant.has_value() || (field.program != nullptr && !field.depends_on_u);
}

/// Whether the field is known to vanish everywhere.
inline bool is_zero(const ScalarField& field) { return field.constant == 0.0; }

}  // namespace tessera
