// RobinFaces add the boundary part of a form on the host.
#pragma once

#include <array>
#include <vector>

#include "mesh/element/face_quadrature.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// Which nodes take part in a sum over faces.
enum class FaceRows { all, unconstrained };

/// A Robin face with alpha_q dS_q, [cell][q].
struct WeightedFace {
  FaceQuadrature quadrature;
  std::vector<double> alpha_measure;
  /// Whether the face's nodes at the lower and upper end of each tangential axis are constrained.
  std::array<std::array<bool, 2>, 2> fixed_ends{};
};

/// The Robin faces of a form.
/// @throws BadFieldValue if an alpha is negative or not finite at a face quadrature point.
std::vector<WeightedFace> make_weighted_faces(const BilinearForm& form);

/// The boundary part <alpha u, v> of a stiffness form, summed over its Robin faces.
///
/// Per face cell v_i = sum_q phi_i(q) alpha_q dS_q sum_j phi_j(q) u_j, in double precision. It
/// costs O(N^{(d-1)/d}), so one plain form serves every strategy. Deterministic: even rows of face
/// cells, then odd rows.
template <class T>
class RobinFaces {
 public:
  /// @throws BadFieldValue as make_weighted_faces()
  explicit RobinFaces(const BilinearForm& form);

  bool empty() const { return faces_.empty(); }
  /// y += A_robin x. With FaceRows::unconstrained, nodes on Dirichlet faces are neither read nor
  /// written.
  void add(const HostVector<T>& x, FaceRows rows, HostVector<T>& y) const;
  /// d_i += (A_robin)_ii for all nodes.
  void add_diagonal(HostVector<T>& d) const;
  /// Calls f(node_i, node_j, value) for every entry of every face cell's matrix, one after another.
  template <class F>
  void for_each_entry(F&& f) const;

 private:
  struct FaceCell;
  /// f(face cell) in parallel, such that no two running calls share a node.
  template <class F>
  void for_each_cell(F&& f) const;

  NodeLattice lattice_;
  std::vector<WeightedFace> faces_;
  std::vector<double> shape_by_nodes_;  // phi_i(q) of any face, [i][q]
};

template <class T>
template <class F>
void RobinFaces<T>::for_each_entry(F&& f) const {
  for (const WeightedFace& face : faces_) {
    const FaceQuadrature& quadrature = face.quadrature;
    const int n = quadrature.nodes_per_cell;
    std::vector<Index> nodes(n);
    for (Index cell = 0; cell < quadrature.cell_count(); ++cell) {
      quadrature.cell_nodes(cell, lattice_.degree(), nodes.data());
      const double* weights = &face.alpha_measure[cell * quadrature.points_per_cell];
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          double value = 0.0;
          for (int q = 0; q < quadrature.points_per_cell; ++q) {
            value += weights[q] * quadrature.shape[q * n + i] * quadrature.shape[q * n + j];
          }
          f(nodes[i], nodes[j], static_cast<T>(value));
        }
      }
    }
  }
}

}  // namespace tessera
