// This file makes the 1D factors of transfers, and applies them on the host.
#include "operators/multigrid/lattice_transfer.hpp"

#include <algorithm>

namespace tessera {
namespace {

// Column `column` = 0.
void clear_column(AxisMatrix& matrix, Index column) {
  for (Index r = 0; r < matrix.rows; ++r) {
    const Index k = column - matrix.first[r];
    if (k >= 0 && k < matrix.width) matrix.entries[r * matrix.width + k] = 0.0;
  }
}

// Values of the vectors between two sweeps; the largest of them.
Index prolongation_scratch(const LatticeProlongation& prolongation) {
  IndexTriple extents = prolongation.coarse.extents;
  Index largest = 0;
  for (std::size_t s = 0; s + 1 < prolongation.sweeps.size(); ++s) {
    extents[prolongation.sweeps[s].d] = prolongation.sweeps[s].matrix.rows;
    largest = std::max(largest, IndexBox(extents).size());
  }
  return largest;
}

}  // namespace

LatticeProlongation make_prolongation(const Discretization& coarse, const Discretization& fine,
                                      FaceSet dirichlet) {
  LatticeProlongation result{coarse.lattice.nodes(), fine.lattice.nodes(), {}};
  for (int d = 0; d < fine.mesh.dimension(); ++d) {
    AxisMatrix matrix =
        evaluation_matrix({coarse.mesh, d, coarse.basis.nodes}, {fine.mesh, d, fine.basis.nodes});
    // The last of an odd number of cells may be all that a part has: other ranks have a sweep along
    // this axis, and in another order sums would not have the same bits.
    const bool has_sweep = coarse.mesh.place().cells[d] != fine.mesh.place().cells[d];
    if (!has_sweep && is_identity(matrix)) continue;
    if (dirichlet[2 * d]) clear_column(matrix, 0);
    if (dirichlet[2 * d + 1]) clear_column(matrix, matrix.columns - 1);
    result.sweeps.push_back({d, std::move(matrix)});
  }
  return result;
}

// A row has one entry where the node is a node of the coarser mesh, else those of a cell's line.
// Such are the vertices; the midpoint of a cell, if both spaces have a node there; and the nodes of
// a cell that stays alone.
Index max_prolongation_entries(const NodeLattice& coarse, const NodeLattice& fine,
                               const BoxMesh& fine_mesh) {
  const Index p = coarse.degree();
  const auto is_even = [](Index i) { return i % 2 == 0; };
  Index entries = 1;
  for (int d = 0; d < fine.dimension(); ++d) {
    const Index rows = fine.extents()[d];
    const Index cells = (coarse.extents()[d] - 1) / p;
    const Index fine_cells = (rows - 1) / fine.degree();
    const Index alone = 2 * cells - fine_cells;  // where cells are halved
    Index common = cells + 1;
    if (p != fine.degree()) {
      common += is_even(p) && is_even(fine.degree()) ? cells : 0;
    } else {
      common += (is_even(p) && fine_mesh.is_uniform(d) ? cells - alone : 0) + alone * (p - 1);
    }
    entries *= rows == coarse.extents()[d] ? rows : rows * (p + 1) - common * p;
  }
  return entries;
}

template <class T>
LatticeTransfer<T, Host>::LatticeTransfer(const LatticeProlongation& prolongation)
    : coarse_size_(prolongation.coarse.size()), fine_size_(prolongation.fine.size()) {
  IndexTriple extents = prolongation.coarse.extents;
  for (const AxisSweep& sweep : prolongation.sweeps) {
    const AxisMatrix& matrix = sweep.matrix;
    prolong_.push_back(
        {sweep.d, matrix, {matrix.entries.begin(), matrix.entries.end()}, IndexBox(extents)});
    extents[sweep.d] = matrix.rows;
    AxisMatrix transposed = transpose(matrix);
    std::vector<T> entries(transposed.entries.begin(), transposed.entries.end());
    restrict_.insert(restrict_.begin(),
                     {sweep.d, std::move(transposed), std::move(entries), IndexBox(extents)});
  }
  for (HostVector<T>& vector : scratch_) vector = HostVector<T>(prolongation_scratch(prolongation));
}

template <class T>
void LatticeTransfer<T, Host>::run(const std::vector<Sweep>& sweeps, const T* in, T* out,
                                   LineStore last) const {
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    const bool is_last = s + 1 == sweeps.size();
    const Sweep& sweep = sweeps[s];
    T* const to = is_last ? out : scratch_[s % 2].data();
    multiply_along(sweep.matrix, sweep.entries, sweep.from, sweep.d, in, to,
                   is_last ? last : LineStore::assign);
    in = to;
  }
}

template <class T>
void LatticeTransfer<T, Host>::do_restrict_to_coarse(const HostVector<T>& fine,
                                                     HostVector<T>& coarse) const {
  run(restrict_, fine.data(), coarse.data(), LineStore::assign);
}

template <class T>
void LatticeTransfer<T, Host>::do_add_prolonged(const HostVector<T>& coarse,
                                                HostVector<T>& fine) const {
  run(prolong_, coarse.data(), fine.data(), LineStore::add);
}

template <class T>
Index LatticeTransfer<T, Host>::bytes() const {
  std::size_t bytes = 0;
  for (const auto* sweeps : {&prolong_, &restrict_}) {
    for (const Sweep& sweep : *sweeps) {
      bytes += sweep.matrix.first.size() * sizeof(Index) +
               sweep.entries.size() * (sizeof(T) + sizeof(double));
    }
  }
  bytes += static_cast<std::size_t>(scratch_[0].size() + scratch_[1].size()) * sizeof(T);
  return static_cast<Index>(bytes);
}

template class LatticeTransfer<double, Host>;
template class LatticeTransfer<float, Host>;

}  // namespace tessera
