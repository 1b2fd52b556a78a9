// This file evaluates Lagrange polynomials by products of distances, and cells axis after axis.
#include "postprocess/picture/interpolant.hpp"

#include <algorithm>

namespace tessera {

LagrangeBasis::LagrangeBasis(std::span<const double> nodes)
    : nodes_(nodes.begin(), nodes.end()), weights_(nodes.size(), 1.0) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      if (j != i) weights_[i] /= nodes_[i] - nodes_[j];
    }
  }
}

LagrangeBasis::Support LagrangeBasis::evaluate(double xi, double* values) const {
  const int n = static_cast<int>(nodes_.size());
  double product = 1.0;
  for (int i = 0; i < n; ++i) {
    const double distance = xi - nodes_[i];
    if (distance == 0.0) {
      std::fill_n(values, n, 0.0);
      values[i] = 1.0;
      return {i, i};
    }
    values[i] = weights_[i] * product;
    product *= distance;
  }
  product = 1.0;
  for (int i = n - 1; i >= 0; --i) {
    values[i] *= product;
    product *= xi - nodes_[i];
  }
  return {0, n - 1};
}

Interpolant::Interpolant(const NodeLattice& lattice, const LagrangeBasis& basis,
                         const double* values)
    : lattice_(lattice), basis_(basis), values_(values), nodes_(lattice.degree() + 1) {
  for (auto& factors : factors_) factors.assign(static_cast<std::size_t>(nodes_), 1.0);
  support_.fill({0, 0});
  slice_.resize(static_cast<std::size_t>(nodes_) * nodes_);
}

void Interpolant::make_slice(const CellPoint& point) {
  const LagrangeBasis::Support z = support_[2];
  if (point.cell == slice_cell_ && point.xi[1] == slice_xi_ && z.first >= slice_support_.first &&
      z.last <= slice_support_.last) {
    return;
  }
  const double* corner = values_ + lattice_.first_node(point.cell);
  for (int iz = z.first; iz <= z.last; ++iz) {
    double* out = slice_.data() + static_cast<std::size_t>(iz) * nodes_;
    std::fill_n(out, nodes_, 0.0);
    for (int iy = support_[1].first; iy <= support_[1].last; ++iy) {
      const double factor = factors_[1][iy];
      const double* row = corner + lattice_.offset(0, iy, iz);
      for (int ix = 0; ix < nodes_; ++ix) out[ix] += factor * row[ix];
    }
  }
  slice_cell_ = point.cell;
  slice_xi_ = point.xi[1];
  slice_support_ = z;
}

double Interpolant::operator()(const CellPoint& point) {
  for (int d = 0; d < lattice_.dimension(); ++d) {
    support_[d] = basis_.evaluate(point.xi[d], factors_[d].data());
  }
  make_slice(point);
  double value = 0.0;
  for (int iz = support_[2].first; iz <= support_[2].last; ++iz) {
    const double* row = slice_.data() + static_cast<std::size_t>(iz) * nodes_;
    double sum = 0.0;
    for (int ix = support_[0].first; ix <= support_[0].last; ++ix) sum += factors_[0][ix] * row[ix];
    value += factors_[2][iz] * sum;
  }
  return value;
}

}  // namespace tessera
