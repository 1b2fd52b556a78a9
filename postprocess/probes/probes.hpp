// Probes evaluate a solution at points.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/element/line_basis.hpp"
#include "mesh/scalar_field.hpp"
#include "postprocess/files/atomic_file.hpp"

namespace tessera {

/// Points that are not in the domain.
class PointsOutside : public std::runtime_error {
 public:
  PointsOutside(std::vector<Index> points, const std::string& reason)
      : std::runtime_error(reason), points_(std::move(points)) {}

  /// Their numbers, increasing.
  const std::vector<Index>& points() const { return points_; }

 private:
  std::vector<Index> points_;
};

/// Evaluates functions of a space at points whose cells, and places in them, are found once: a
/// function after the other, as in time steps, then costs (p + 1)^d multiply-adds a point. Neither
/// mesh nor points are needed again; 32 bytes a point are held.
class Probes {
 public:
  /// Finds the points in parallel. @param points physical positions
  /// @throws PointsOutside, whose reason has the bounds of the domain; Interrupted
  Probes(const Discretization& discretization, std::span<const Point> points);

  Index size() const { return static_cast<Index>(places_.size()); }

  /// values[i] = the degree-p function u at point i. @param u nodal values, [lattice.size()]
  void evaluate(std::span<const double> u, std::span<double> values) const;

  /// Bytes held for so many points.
  static Index bytes(Index points) { return points * static_cast<Index>(sizeof(Place)); }

 private:
  struct Place {
    Index first_node;  // of the cell
    Point reference;
  };

  NodeLattice lattice_;
  LineBasis basis_;
  std::vector<Place> places_;
};

/// The values of a field at points, in parallel. @throws what the field throws
std::vector<double> values_at(std::span<const Point> points, const ScalarField& field);

/// What is known at probes.
struct ProbeValues {
  std::vector<double> u;
  /// Empty if the exact solution is not known.
  std::vector<double> exact;
};

/// Writes probes.csv: x, y, z, u and, if the exact solution is known, it and error = u - exact; all
/// digits. @throws OutputError
void write_probes_csv(AtomicFile& file, std::span<const Point> points, const ProbeValues& values);

}  // namespace tessera
