// This file evaluates functions in cells, axis after axis.
#include "postprocess/picture/interpolant.hpp"

#include <algorithm>

namespace tessera {

Interpolant::Interpolant(const NodeLattice& lattice, const LineBasis& basis, const double* values)
    : lattice_(lattice), basis_(basis), values_(values), nodes_(lattice.degree() + 1) {
  for (LineValues& factors : factors_) factors[0] = 1.0;
  slice_.resize(static_cast<std::size_t>(nodes_) * nodes_);
}

void Interpolant::make_slice(const CellPoint& point) {
  const LineBasis::Support z = support_[2];
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
    support_[d] = basis_.values(point.xi[d], factors_[d]);
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
