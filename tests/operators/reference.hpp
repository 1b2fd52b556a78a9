// This reference evaluates the form by plain loops, without the library's tables.
#pragma once

#include <array>
#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/load/load_vector.hpp"

namespace tessera::testing {

/// The form and its load by loops over cells, quadrature points and nodes, in double and in one
/// thread: no tables, kernels, batches, scatter policies or lattice functions of the library.
///
/// Taken from the library are only the 1D nodes, the 1D quadrature rule and the positions of nodes.
class Reference {
 public:
  explicit Reference(const BilinearForm& form);

  Index size() const { return counts_[0] * counts_[1] * counts_[2]; }
  bool is_constrained(Index node) const;

  /// The operator with identity rows and columns at Dirichlet nodes.
  std::vector<double> apply(const std::vector<double>& x) const;
  std::vector<double> diagonal() const;
  /// |A| |x|: what roundings of the operator are to be compared with, the sum over cells and points
  /// of the absolute values of everything that apply() adds.
  std::vector<double> magnitude(const std::vector<double>& x) const;
  /// a(x_h, phi_i) for every node, Dirichlet or not.
  std::vector<double> apply_form(const std::vector<double>& x) const;
  /// The right-hand side with Dirichlet values taken from u.
  std::vector<double> load(const ScalarField& source, const std::vector<FluxTerm>& fluxes,
                           const std::vector<double>& u) const;
  /// Area (length in 2D) of a face.
  double face_area(int face) const;
  double volume() const;

 private:
  /// The basis of one cell, its geometry and its position at one point.
  struct AtPoint {
    double measure;  // quadrature weight times volume or surface element
    Point where;
    std::vector<double> phi;
    std::vector<Point> gradient;  // physical
  };

  std::vector<Index> cell_nodes(const IndexTriple& cell) const;
  /// At reference point xi of the cell; `normal` is the reference axis of a face, or -1.
  AtPoint evaluate(const std::vector<Index>& nodes, const Point& xi, double weight,
                   int normal) const;
  template <class F>
  void for_each_cell_point(F&& f) const;
  template <class F>
  void for_each_face_point(int face, F&& f) const;

  const BilinearForm* form_;
  int dimension_;
  int degree_;
  IndexTriple cells_;
  IndexTriple counts_;  // nodes an axis
  std::vector<double> nodes_;
  Quadrature quadrature_;
  std::array<std::vector<double>, 3> positions_;
};

}  // namespace tessera::testing
