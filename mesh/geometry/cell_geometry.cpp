// This file evaluates cells by sum factorization, with small sizes unrolled.
#include "mesh/geometry/cell_geometry.hpp"

namespace tessera {

namespace {

// Matrices of up to this many rows R are unrolled if they have R - 2 .. R + 2 columns.
constexpr int kMaxUnrolled = 10;

// contract() with the sizes known at compile time where they are small.
template <Parity parity, Store store, int R = 2, int C = 2>
void contract_any(const EvenOddMatrix<double>& matrix, int fast, int slow, const Lanes<double>* in,
                  Lanes<double>* out) {
  if constexpr (R > kMaxUnrolled) {
    contract<0, 0, parity, store>(matrix, fast, slow, in, out);
  } else if constexpr (C > R + 2 || C > kMaxUnrolled) {
    contract_any<parity, store, R + 1, (R > 3 ? R - 1 : 2)>(matrix, fast, slow, in, out);
  } else if (matrix.rows == R && matrix.columns == C) {
    contract<R, C, parity, store>(matrix, fast, slow, in, out);
  } else {
    contract_any<parity, store, R, C + 1>(matrix, fast, slow, in, out);
  }
}

}  // namespace

CellEvaluator::CellEvaluator(const Basis1D& basis, int dimension)
    : dimension_(dimension),
      nodes_(static_cast<int>(power(basis.node_count(), dimension))),
      points_(static_cast<int>(power(basis.point_count(), dimension))),
      B_(split_even_odd<double>(basis.B)),
      D_(split_even_odd<double>(basis.D)),
      B_transposed_(split_even_odd<double>(transpose(basis.B))),
      D_transposed_(split_even_odd<double>(transpose(basis.D))) {
  const auto longest = static_cast<std::size_t>(std::max(nodes_, points_));
  for (auto& scratch : scratch_) scratch.resize(longest);
  at_points_.resize(static_cast<std::size_t>(points_));
  at_nodes_.resize(static_cast<std::size_t>(nodes_));
}

void CellEvaluator::contract_all(const EvenOddMatrix<double>& matrix, const Lanes<double>* in,
                                 Lanes<double>* out) {
  const Lanes<double>* source = in;
  for (int d = 0; d < dimension_; ++d) {
    // Axes before d have their rows already, those after it still their columns.
    const int fast = static_cast<int>(power(matrix.rows, d));
    const int slow = static_cast<int>(power(matrix.columns, dimension_ - 1 - d));
    Lanes<double>* target = d == dimension_ - 1 ? out : scratch_[d % 2].data();
    contract_any<Parity::even, Store::assign>(matrix, fast, slow, source, target);
    source = target;
  }
}

void CellEvaluator::values(const Lanes<double>* u, Lanes<double>* values) {
  contract_all(B_, u, values);
}

void CellEvaluator::differentiate(const Lanes<double>* values,
                                  const std::array<Lanes<double>*, 3>& gradient) {
  for (int a = 0; a < dimension_; ++a) {
    const int fast = static_cast<int>(power(D_.rows, a));
    const int slow = static_cast<int>(power(D_.rows, dimension_ - 1 - a));
    contract_any<Parity::odd, Store::assign>(D_, fast, slow, values, gradient[a]);
  }
}

void CellEvaluator::gradient(const Lanes<double>* u,
                             const std::array<Lanes<double>*, 3>& gradient) {
  values(u, at_points_.data());
  differentiate(at_points_.data(), gradient);
}

void CellEvaluator::integrate_values(const Lanes<double>* values, Lanes<double>* v) {
  contract_all(B_transposed_, values, v);
}

void CellEvaluator::add_integrated_gradient(const std::array<Lanes<double>*, 3>& gradient,
                                            Lanes<double>* v) {
  std::fill(at_points_.begin(), at_points_.end(), Lanes<double>{});
  for (int a = 0; a < dimension_; ++a) {
    const int fast = static_cast<int>(power(D_.rows, a));
    const int slow = static_cast<int>(power(D_.rows, dimension_ - 1 - a));
    contract_any<Parity::odd, Store::add>(D_transposed_, fast, slow, gradient[a],
                                          at_points_.data());
  }
  contract_all(B_transposed_, at_points_.data(), at_nodes_.data());
  for (int i = 0; i < nodes_; ++i) v[i] += at_nodes_[i];
}

std::vector<double> tensor_weights(const Quadrature& quadrature, int dimension) {
  std::vector<double> weights{1.0};
  for (int d = 0; d < dimension; ++d) {
    std::vector<double> next;
    for (const double slow : quadrature.weights) {
      for (const double fast : weights) next.push_back(slow * fast);
    }
    weights = std::move(next);
  }
  return weights;
}

CellGeometry::CellGeometry(const Discretization& discretization, const Basis1D& basis,
                           const double* u, AskedCells asked)
    : discretization_(&discretization),
      asked_(asked),
      u_(u),
      quadrature_(basis.quadrature),
      evaluator_(basis, discretization.mesh.dimension()),
      weights_(tensor_weights(basis.quadrature, discretization.mesh.dimension())) {
  const int dimension = discretization.mesh.dimension();
  const auto points = static_cast<std::size_t>(evaluator_.points_per_cell());
  for (auto& position : position_) position.resize(points, Lanes<double>{});
  for (int a = 0; a < dimension; ++a) {
    for (int b = 0; b < dimension; ++b) jacobian_[a][b].resize(points, Lanes<double>{});
  }
  determinant_.resize(points);
  if (u_ != nullptr) u_at_points_.resize(points);
  nodal_.resize(static_cast<std::size_t>(evaluator_.nodes_per_cell()));
}

PointBlock CellGeometry::positions() const {
  const auto* x = reinterpret_cast<const double*>(position_[0].data());
  const auto* y = reinterpret_cast<const double*>(position_[1].data());
  const auto* z = reinterpret_cast<const double*>(position_[2].data());
  const auto* u = reinterpret_cast<const double*>(u_at_points_.data());
  return {position_[0].size() * kLanes<double>, x, y, z, u_ != nullptr ? u : nullptr};
}

void CellGeometry::evaluate(std::span<const IndexTriple> cells) {
  if (discretization_->mapping.is_cartesian()) {
    evaluate_cartesian(cells);
  } else {
    evaluate_isoparametric(cells);
  }
  if (u_ == nullptr) return;
  gather_cells(discretization_->lattice, cells, u_, nodal_.data());
  evaluator_.values(nodal_.data(), u_at_points_.data());
}

void CellGeometry::evaluate_cartesian(std::span<const IndexTriple> cells) {
  const BoxMesh& mesh = discretization_->mesh;
  const int dimension = mesh.dimension();
  const int nq = static_cast<int>(quadrature_.points.size());
  std::array<Lanes<double>, 3> begin{};
  std::array<Lanes<double>, 3> width{};
  Lanes<double> volume = broadcast(1.0);
  for (int d = 0; d < dimension; ++d) {
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      const Index i = cells[std::min<std::size_t>(lane, cells.size() - 1)][d];
      begin[d][lane] = mesh.grid_line(d, i);
      width[d][lane] = mesh.cell_width(d, i);
    }
    volume *= width[d];
  }
  for (int q = 0; q < evaluator_.points_per_cell(); ++q) {
    int rest = q;
    for (int d = 0; d < dimension; ++d) {
      position_[d][q] = begin[d] + width[d] * quadrature_.points[rest % nq];
      jacobian_[d][d][q] = width[d];
      rest /= nq;
    }
    determinant_[q] = volume;
  }
}

void CellGeometry::gather_coordinate(std::span<const IndexTriple> cells, int a) {
  const NodeLattice& lattice = discretization_->lattice;
  const Mapping& mapping = discretization_->mapping;
  if (asked_ == AskedCells::all || mapping.positions()->are_on_host()) {
    gather_cells(lattice, cells, mapping.coordinate(a).data(), nodal_.data());
    return;
  }
  const int n = lattice.degree() + 1;
  std::vector<Index> nodes(nodal_.size());
  std::array<std::vector<double>, 3> position;
  position.fill(std::vector<double>(nodes.size(), 0.0));
  for (int lane = 0; lane < kLanes<double>; ++lane) {
    const Index first = lattice.first_node(cells[std::min<std::size_t>(lane, cells.size() - 1)]);
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
      nodes[i] = first + lattice.offset(i % n, i / n % n, i / (n * n));
    }
    mapping.node_positions(nodes, position[0].data(), position[1].data(), position[2].data());
    for (std::size_t i = 0; i < nodes.size(); ++i) nodal_[i][lane] = position[a][i];
  }
}

void CellGeometry::evaluate_isoparametric(std::span<const IndexTriple> cells) {
  const int dimension = discretization_->mesh.dimension();
  for (int a = 0; a < dimension; ++a) {
    gather_coordinate(cells, a);
    // Positions are taken relative to a node of the cell, so that J loses no digits to the size of
    // the box.
    const Lanes<double> origin = nodal_[0];
    for (int i = 0; i < evaluator_.nodes_per_cell(); ++i) nodal_[i] -= origin;
    evaluator_.values(nodal_.data(), position_[a].data());
    std::array<Lanes<double>*, 3> row{};
    for (int b = 0; b < dimension; ++b) row[b] = jacobian_[a][b].data();
    evaluator_.differentiate(position_[a].data(), row);
    for (int q = 0; q < evaluator_.points_per_cell(); ++q) position_[a][q] += origin;
  }
  const auto& J = jacobian_;
  for (int q = 0; q < evaluator_.points_per_cell(); ++q) {
    if (dimension == 2) {
      determinant_[q] = J[0][0][q] * J[1][1][q] - J[0][1][q] * J[1][0][q];
    } else {
      determinant_[q] = J[0][0][q] * (J[1][1][q] * J[2][2][q] - J[1][2][q] * J[2][1][q]) -
                        J[0][1][q] * (J[1][0][q] * J[2][2][q] - J[1][2][q] * J[2][0][q]) +
                        J[0][2][q] * (J[1][0][q] * J[2][1][q] - J[1][1][q] * J[2][0][q]);
    }
  }
}

}  // namespace tessera
