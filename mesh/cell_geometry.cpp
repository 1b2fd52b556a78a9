#include "mesh/cell_geometry.hpp"

namespace tessera {

CellEvaluator::CellEvaluator(const Basis1D& basis, int dimension)
    : dimension_(dimension),
      nodes_(static_cast<int>(power(basis.node_count(), dimension))),
      points_(static_cast<int>(power(basis.point_count(), dimension))),
      B_(split_even_odd<double>(basis.B)),
      G_(split_even_odd<double>(basis.G)),
      B_transposed_(split_even_odd<double>(transpose(basis.B))),
      G_transposed_(split_even_odd<double>(transpose(basis.G))) {
  const auto longest = static_cast<std::size_t>(std::max(nodes_, points_));
  for (auto& scratch : scratch_) scratch.resize(longest);
}

void CellEvaluator::contract_all(const std::array<const EvenOddMatrix<double>*, 3>& matrices,
                                 int odd_axis, const Lanes<double>* in, Lanes<double>* out) {
  // Rows that an axis has before and after its own contraction; all axes are alike.
  const int columns = matrices[0]->columns;
  const int rows = matrices[0]->rows;
  const Lanes<double>* source = in;
  for (int d = 0; d < dimension_; ++d) {
    const int fast = static_cast<int>(power(rows, d));
    const int slow = static_cast<int>(power(columns, dimension_ - 1 - d));
    Lanes<double>* target = d == dimension_ - 1 ? out : scratch_[d % 2].data();
    if (d == odd_axis) {
      contract<0, 0, Parity::odd>(*matrices[d], fast, slow, source, target);
    } else {
      contract<0, 0, Parity::even>(*matrices[d], fast, slow, source, target);
    }
    source = target;
  }
}

void CellEvaluator::values(const Lanes<double>* u, Lanes<double>* values) {
  contract_all({&B_, &B_, &B_}, -1, u, values);
}

void CellEvaluator::gradient(const Lanes<double>* u,
                             const std::array<Lanes<double>*, 3>& gradient) {
  for (int a = 0; a < dimension_; ++a) {
    std::array<const EvenOddMatrix<double>*, 3> matrices{&B_, &B_, &B_};
    matrices[a] = &G_;
    contract_all(matrices, a, u, gradient[a]);
  }
}

void CellEvaluator::integrate_values(const Lanes<double>* values, Lanes<double>* v) {
  contract_all({&B_transposed_, &B_transposed_, &B_transposed_}, -1, values, v);
}

void CellEvaluator::add_integrated_gradient(const std::array<Lanes<double>*, 3>& gradient,
                                            Lanes<double>* v) {
  HostArray<Lanes<double>> part(static_cast<std::size_t>(nodes_));
  for (int a = 0; a < dimension_; ++a) {
    std::array<const EvenOddMatrix<double>*, 3> matrices{&B_transposed_, &B_transposed_,
                                                         &B_transposed_};
    matrices[a] = &G_transposed_;
    contract_all(matrices, a, gradient[a], part.data());
    for (int i = 0; i < nodes_; ++i) v[i] += part[i];
  }
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

CellGeometry::CellGeometry(const Discretization& discretization, const Basis1D& basis)
    : discretization_(&discretization),
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
  nodal_.resize(static_cast<std::size_t>(evaluator_.nodes_per_cell()));
}

PointBlock CellGeometry::positions() const {
  const auto* x = reinterpret_cast<const double*>(position_[0].data());
  const auto* y = reinterpret_cast<const double*>(position_[1].data());
  const auto* z = reinterpret_cast<const double*>(position_[2].data());
  return {position_[0].size() * kLanes<double>, x, y, z};
}

void CellGeometry::evaluate(std::span<const IndexTriple> cells) {
  if (discretization_->mapping.is_cartesian()) {
    evaluate_cartesian(cells);
  } else {
    evaluate_isoparametric(cells);
  }
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
      width[d][lane] = mesh.grid_line(d, i + 1) - mesh.grid_line(d, i);
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

void CellGeometry::evaluate_isoparametric(std::span<const IndexTriple> cells) {
  const int dimension = discretization_->mesh.dimension();
  for (int a = 0; a < dimension; ++a) {
    gather_cells(discretization_->lattice, cells, discretization_->mapping.coordinate(a).data(),
                 nodal_.data());
    evaluator_.values(nodal_.data(), position_[a].data());
    std::array<Lanes<double>*, 3> row{};
    for (int b = 0; b < dimension; ++b) row[b] = jacobian_[a][b].data();
    evaluator_.gradient(nodal_.data(), row);
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
