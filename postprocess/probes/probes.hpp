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
#include "solvers/ranks/communicator.hpp"

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
///
/// Of several ranks, each of which has a part of the mesh, every one looks for all points, and the
/// one where a point is, or is nearest, answers for it: the lowest of equal ones, as on faces that
/// ranks share. All ranks call each function together, with the same points.
class Probes {
 public:
  /// Finds the points in parallel. @param points physical positions
  /// @param ranks must outlive this
  /// @throws PointsOutside, on all ranks, whose reason has the bounds of the domain; Interrupted
  Probes(const Discretization& discretization, std::span<const Point> points,
         const Communicator& ranks = single_rank());

  Index size() const { return static_cast<Index>(places_.size()); }

  /// values[i] = the degree-p function u at point i, on all ranks.
  /// @param u nodal values, of the rank's part, [lattice.size()]
  void evaluate(std::span<const double> u, std::span<double> values) const;

  /// Bytes held for so many points by a single rank; by each of several 4 more a point.
  static Index bytes(Index points) { return points * static_cast<Index>(sizeof(Place)); }

 private:
  struct Place {
    Index first_node;  // of the cell
    Point reference;
  };

  std::vector<double> find(const Discretization& discretization, std::span<const Point> points,
                           double largest_coordinate);
  // Calls use(point, what each rank has of it) for all points. @param mine [size()]
  template <class Use>
  void for_each_gathered(std::span<const double> mine, Use&& use) const;
  bool is_mine(Index point) const { return owners_.empty() || owners_[point] == ranks_->rank(); }

  const Communicator* ranks_;
  NodeLattice lattice_;
  LineBasis basis_;
  std::vector<Place> places_;
  std::vector<int> owners_;  // empty with a single rank
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
