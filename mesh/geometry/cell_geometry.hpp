// These classes evaluate functions, positions and Jacobians at the quadrature points of a batch of
// cells.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "mesh/discretization.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/element/sum_factorization.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/simd.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Evaluates nodal functions and their reference gradients at the quadrature points of a batch of
/// cells, for any degree: the readable, run-time-sized form of what the tensor kernel does.
///
/// Tensors are [q_z][q_y][q_x] (or nodes i), x fastest, every entry a Lanes<double>.
class CellEvaluator {
 public:
  CellEvaluator(const Basis1D& basis, int dimension);

  // The analyzer does not look into the constructor.
  int nodes_per_cell() const { return nodes_; }  // NOLINT(clang-analyzer-core.uninitialized*)
  int points_per_cell() const { return points_; }

  /// values[q] = sum_i B_i(q) u[i].
  void values(const Lanes<double>* u, Lanes<double>* values);
  /// gradient[a][q] = d/dxi_a at q of sum_i phi_i u[i], a < dimension.
  void gradient(const Lanes<double>* u, const std::array<Lanes<double>*, 3>& gradient);
  /// gradient[a][q] = d/dxi_a at q of the polynomial that has these values at the points.
  void differentiate(const Lanes<double>* values, const std::array<Lanes<double>*, 3>& gradient);
  /// v[i] = sum_q phi_i(q) values[q]: the transpose of values().
  void integrate_values(const Lanes<double>* values, Lanes<double>* v);
  /// v[i] += sum_q sum_a dphi_i/dxi_a(q) gradient[a][q]: the transpose of gradient().
  void add_integrated_gradient(const std::array<Lanes<double>*, 3>& gradient, Lanes<double>* v);

 private:
  /// Contracts every axis with the same even matrix: [columns]^d -> [rows]^d.
  void contract_all(const EvenOddMatrix<double>& matrix, const Lanes<double>* in,
                    Lanes<double>* out);

  int dimension_;
  int nodes_;
  int points_;
  EvenOddMatrix<double> B_, D_, B_transposed_, D_transposed_;
  HostArray<Lanes<double>> scratch_[2];
  HostArray<Lanes<double>> at_points_;
  HostArray<Lanes<double>> at_nodes_;
};

/// Of how many cells geometry is asked for: for all, the host gets the positions of all nodes.
enum class AskedCells { all, few };

/// Positions, Jacobians and determinants at the quadrature points of up to kLanes<double> cells,
/// and the values of a nodal function where there is one.
class CellGeometry {
 public:
  /// @param basis a basis on the discretization's nodes, whose quadrature may differ
  /// @param u values at the nodes, which positions() will have as u; null for none
  CellGeometry(const Discretization& discretization, const Basis1D& basis,
               const double* u = nullptr, AskedCells asked = AskedCells::all);

  /// Evaluates the geometry of these cells; the last one is repeated in unused lanes.
  void evaluate(std::span<const IndexTriple> cells);

  int points_per_cell() const { return evaluator_.points_per_cell(); }
  CellEvaluator& evaluator() { return evaluator_; }
  /// x_d at the points, [q] lanes fastest.
  const Lanes<double>* position(int d) const { return position_[d].data(); }
  /// J[a][b] = dx_a / dxi_b at the points.
  const Lanes<double>* jacobian(int a, int b) const { return jacobian_[a][b].data(); }
  const Lanes<double>* determinant() const { return determinant_.data(); }
  /// The cofactor of J[a][b] at point q, in 3D: J^-1[b][a] = cofactor / determinant.
  Lanes<double> cofactor(int a, int b, std::size_t q) const {
    const int a1 = (a + 1) % 3;
    const int a2 = (a + 2) % 3;
    const int b1 = (b + 1) % 3;
    const int b2 = (b + 2) % 3;
    return jacobian(a1, b1)[q] * jacobian(a2, b2)[q] - jacobian(a1, b2)[q] * jacobian(a2, b1)[q];
  }
  /// Tensor-product quadrature weights on the unit cell, [q].
  const std::vector<double>& weights() const { return weights_; }
  /// All positions of the batch as one block: points_per_cell() * kLanes<double> of them.
  PointBlock positions() const;

 private:
  void evaluate_cartesian(std::span<const IndexTriple> cells);
  void evaluate_isoparametric(std::span<const IndexTriple> cells);

  /// nodal_ = coordinate a of the nodes of the cells.
  void gather_coordinate(std::span<const IndexTriple> cells, int a);

  const Discretization* discretization_;
  AskedCells asked_;
  const double* u_;
  Quadrature quadrature_;
  CellEvaluator evaluator_;
  std::vector<double> weights_;
  std::array<HostArray<Lanes<double>>, 3> position_;
  std::array<std::array<HostArray<Lanes<double>>, 3>, 3> jacobian_;
  HostArray<Lanes<double>> determinant_;
  HostArray<Lanes<double>> u_at_points_;
  HostArray<Lanes<double>> nodal_;
};

/// w_q = product over axes of 1D weights, [q] with x fastest.
std::vector<double> tensor_weights(const Quadrature& quadrature, int dimension);

/// Gathers u[i][lane] = x[node i of cells[lane]], repeating the last cell in unused lanes.
template <class T>
void gather_cells(const NodeLattice& lattice, std::span<const IndexTriple> cells, const T* x,
                  Lanes<T>* u) {
  const int n = lattice.degree() + 1;
  const int nz = lattice.dimension() == 3 ? n : 1;
  for (int lane = 0; lane < kLanes<T>; ++lane) {
    const std::size_t cell = std::min<std::size_t>(lane, cells.size() - 1);
    const T* corner = x + lattice.first_node(cells[cell]);
    int i = 0;
    for (int iz = 0; iz < nz; ++iz) {
      for (int iy = 0; iy < n; ++iy) {
        const T* row = corner + lattice.offset(0, iy, iz);
        for (int ix = 0; ix < n; ++ix) u[i++][lane] = row[ix];
      }
    }
  }
}

}  // namespace tessera
