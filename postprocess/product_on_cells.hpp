// A ProductOnCells has a product of functions of one coordinate each at the points of
// axis-aligned cells.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/lanes/simd.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// f(x, y, z) = f_0(x) f_1(y) f_2(z) and its gradient at the tensor-product points of cells. The
/// f_d and their derivatives are evaluated once for all points along the axes, which are about the
/// cube root of all points.
class ProductOnCells {
 public:
  /// @param points of a cell along each axis, on [0, 1]
  /// @returns null unless the cells are axis-aligned boxes, and the field a product whose factors
  ///          are constants or programs with finite values: others say themselves what is wrong
  static std::optional<ProductOnCells> of(const Discretization& discretization,
                                          std::span<const double> points, const ScalarField& field);

  /// The f_d and f_d' of a batch of cells, [point along the axis].
  struct Lines {
    std::array<std::vector<Lanes<double>>, 3> value;
    std::array<std::vector<Lanes<double>>, 3> slope;
  };
  /// Those of the cells at these places. @param lines what a thread has of an earlier batch, or
  ///        nothing
  void gather(const std::array<IndexTriple, kLanes<double>>& cells, Lines& lines) const;

 private:
  // Of all cells along an axis, [cell][point].
  struct Axis {
    std::size_t points;
    std::vector<double> value;
    std::vector<double> slope;
  };

  std::array<Axis, 3> axes_;
};

}  // namespace tessera
