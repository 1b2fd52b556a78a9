// A function of degree 4 at random points of a mesh of the unit cube, in GPU memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mesh/discretization.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/studies/aggregation/probes/brick_grid.hpp"

namespace tessera {

/// In which order threads take the points.
enum class ProbeOrder {
  given,  ///< as they are
  binned  ///< first sorted by bricks of cells, which is part of the time
};

/// Evaluates u at points. In a mesh with straight lines the cell of a point follows by a division;
/// in a mapped one by Newton's method from cell to cell, which begins where the point would be if
/// the map were the identity.
class DeviceProbes {
 public:
  static constexpr int degree = 4;
  /// Bricks that points are sorted by.
  static constexpr int kMaxBricks = 1024;

  /// @param discretization 3D, degree 4, of the unit cube with equal cells along all axes, maybe
  ///        mapped onto itself; is referred to
  /// @param u nodal values, [lattice.size()] @throws DeviceError, DeviceOutOfMemory
  DeviceProbes(const Discretization& discretization, std::span<const double> u, std::int64_t points,
               std::uint64_t seed);

  /// Coordinates of a point, in (0, 1), by a hash of its number.
  static Point point(std::int64_t i, std::uint64_t seed);

  /// Seconds of u at all points.
  double seconds(ProbeOrder order);
  /// u at the points, as last computed, by their numbers.
  std::vector<double> values() const { return to_host(values_); }
  /// Points whose cell was not found in the last run.
  std::int64_t lost() const;

 private:
  void sort_by_bricks();

  DevicePlaces places_;
  BrickGrid grid_;
  std::vector<double> nodes_;  // of a cell, along an axis
  DeviceArray<double> u_;
  std::int64_t points_;
  DeviceArray<double> x_;  // [axis][point]
  DeviceArray<double> values_;
  DeviceArray<unsigned> order_;
  DeviceArray<unsigned> counts_;  // of the bricks; then where the next point of each goes
  DeviceArray<unsigned> next_;
  DeviceArray<unsigned> lost_;
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
