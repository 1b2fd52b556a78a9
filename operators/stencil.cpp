#include "operators/stencil.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "mesh/cell_batches.hpp"
#include "mesh/geometric_factors.hpp"
#include "mesh/host_array.hpp"
#include "mesh/partition.hpp"
#include "operators/constrained_rows.hpp"
#include "operators/robin_faces.hpp"
#include "operators/streaming_store.hpp"
#include "operators/tensor.hpp"

namespace tessera {
namespace {

// Vectors beyond this are written past the cache.
constexpr Index kCachedBytes = Index{8} << 20;
// Rows of coefficients that one thread goes through from plane to plane: half an L2 cache.
constexpr Index kBrickBytes = Index{512} << 10;

// A vector of values at any address.
template <class T>
struct LooseLanesOf {
  typedef T type __attribute__((vector_size(kSimdBytes), aligned(alignof(T)), may_alias));
};

template <class T>
Lanes<T> load_lanes(const T* from) {
  return *reinterpret_cast<const typename LooseLanesOf<T>::type*>(from);
}

template <class T>
void store_lanes(Lanes<T> values, T* to) {
  *reinterpret_cast<typename LooseLanesOf<T>::type*>(to) = values;
}

// The couplings of a row of nodes to a row around it: c_s[i] of x_{i + s}, s = -1, 0, 1.
template <class T>
struct RowTerms {
  const T* x;
  const T* c[3];
};

template <class T>
[[gnu::always_inline]] inline Lanes<T> add_row(const RowTerms<T>& row, Index i, Lanes<T> sum) {
  for (int s = -1; s <= 1; ++s) sum += load_lanes(row.c[s + 1] + i) * load_lanes(row.x + i + s);
  return sum;
}

// sums[i] = (start or sums)[i] + sum over the three rows, 1 <= i < n - 1 in vectors; the ends,
// whose neighbors to one side are another row's, with zeros for these.
enum class SumStart { zero, sums };

template <SumStart start, class T>
void add_rows(const std::array<RowTerms<T>, 3>& rows, Index n, T* sums) {
  const auto at = [&](Index i, int first, int last) {
    T sum = start == SumStart::zero ? T{0} : sums[i];
    for (const RowTerms<T>& row : rows) {
      for (int s = first; s <= last; ++s) sum += row.c[s + 1][i] * row.x[i + s];
    }
    sums[i] = sum;
  };
  at(0, 0, 1);
  Index i = 1;
  // Copies, which a store cannot change.
  const auto [a, b, c] = rows;
  for (; i + kLanes<T> <= n - 1; i += kLanes<T>) {
    const Lanes<T> from_a =
        add_row(a, i, start == SumStart::zero ? Lanes<T>{} : load_lanes(sums + i));
    store_lanes<T>(add_row(c, i, add_row(b, i, from_a)), sums + i);
  }
  for (; i < n - 1; ++i) at(i, -1, 1);
  at(n - 1, -1, 0);
}

template <class T, int dim>
class StencilOperator final : public LinearOperator<T, Host> {
 public:
  explicit StencilOperator(const StiffnessForm& form)
      : lattice_(form.discretization->lattice),
        layout_(make_stencil_layout(dim, lattice_.extents(), sizeof(T))),
        coefficients_(static_cast<std::size_t>(stencil_values(layout_))),
        where_(size() * static_cast<Index>(sizeof(T)) > kCachedBytes ? WriteTo::memory
                                                                     : WriteTo::cache) {
    clear();
    add_cells(form);
    add_robin_faces(form);
    for_each_face_node(lattice_, form.dirichlet,
                       [&](Index node) { coefficients_[place(0, node)] = T{1}; });
  }

  Index size() const override { return lattice_.size(); }

  void apply(const HostVector<T>& x, HostVector<T>& y) const override {
    const Index n = layout_.extent[0];
    const Index rows_a_plane = layout_.extent[1];
    const Index rows_a_brick = std::max<Index>(
        kBrickBytes / (2 * layout_.row * static_cast<Index>(sizeof(T))), kFewestRows);
    parallel_ranges(row_count(), [&](Range rows) {
      HostArray<T> sums(static_cast<std::size_t>(n));
      const HostArray<T> zeros(static_cast<std::size_t>(n), T{0});
      const Index first_plane = rows.begin / rows_a_plane;
      const Index end_plane = ceil_div(rows.end, rows_a_plane);
      for (Index brick = 0; brick < rows_a_plane; brick += rows_a_brick) {
        for (Index z = first_plane; z < end_plane; ++z) {
          const Index begin = std::max(rows.begin, z * rows_a_plane + brick);
          const Index end =
              std::min(rows.end, z * rows_a_plane + std::min(brick + rows_a_brick, rows_a_plane));
          for (Index row = begin; row < end; ++row) {
            sum_row(row - z * rows_a_plane, z, x.data(), zeros.data(), sums.data());
            write_values(sums.data(), n, where_, y.data() + row * n);
          }
        }
      }
    });
  }

  void diagonal(HostVector<T>& d) const override {
    const Index n = layout_.extent[0];
#pragma omp parallel for schedule(static)
    for (Index row = 0; row < row_count(); ++row) {
      std::copy_n(coefficients_.data() + row * layout_.row, n, d.data() + row * n);
    }
  }

  /// The coefficients of nodes, x and y once.
  Cost cost() const override {
    const auto nodes = static_cast<double>(size());
    return {(kArrays + 2.0) * nodes * sizeof(T), (4.0 * kNeighbors + 1.0) * nodes};
  }

  Index bytes() const override { return static_cast<Index>(coefficients_.size() * sizeof(T)); }

 private:
  static constexpr int kNeighbors = StencilNeighbors<dim>::kNeighbors;
  static constexpr int kArrays = kNeighbors + 1;
  static constexpr Index kFewestRows = 4;

  Index row_count() const { return static_cast<Index>(layout_.extent[1]) * layout_.extent[2]; }

  // Of coefficient k of a node.
  Index place(int k, Index node) const {
    const Index row = node / layout_.extent[0];
    return k * layout_.array + row * layout_.row + node - row * layout_.extent[0];
  }

  // The number of neighbor (x, y, z) if it is later than the node, 0 the node itself.
  static constexpr int neighbor(int x, int y, int z) {
    return dim == 3 ? x + 3 * y + 9 * z : x + 3 * z;
  }

  // The terms of row (y, z) with row (y + step_y, z + step_z); zeros if there is no such row.
  RowTerms<T> terms(Index y, Index z, int step_y, int step_z, const T* x, const T* zeros) const {
    const Index n = layout_.extent[0];
    const Index row = y + layout_.extent[1] * z;
    const bool exists = y + step_y >= 0 && y + step_y < layout_.extent[1] && z + step_z >= 0 &&
                        z + step_z < layout_.extent[2];
    if (!exists) return {x + row * n, {zeros, zeros, zeros}};
    const Index other = row + step_y + static_cast<Index>(layout_.extent[1]) * step_z;
    RowTerms<T> result{x + other * n, {}};
    for (int s = -1; s <= 1; ++s) {
      const int k = neighbor(s, step_y, step_z);
      // Of an earlier neighbor it is the neighbor's coefficient.
      result.c[s + 1] = k >= 0 ? coefficients_.data() + k * layout_.array + row * layout_.row
                               : coefficients_.data() - k * layout_.array + other * layout_.row + s;
    }
    return result;
  }

  // sums[i] = row (y, z) of A x.
  void sum_row(Index y, Index z, const T* x, const T* zeros, T* sums) const {
    const Index n = layout_.extent[0];
    const auto of = [&](int step_y, int step_z) { return terms(y, z, step_y, step_z, x, zeros); };
    if constexpr (dim == 2) {
      add_rows<SumStart::zero, T>({of(0, -1), of(0, 0), of(0, 1)}, n, sums);
    } else {
      add_rows<SumStart::zero, T>({of(-1, -1), of(0, -1), of(1, -1)}, n, sums);
      add_rows<SumStart::sums, T>({of(-1, 0), of(0, 0), of(1, 0)}, n, sums);
      add_rows<SumStart::sums, T>({of(-1, 1), of(0, 1), of(1, 1)}, n, sums);
    }
  }

  void clear() {
#pragma omp parallel for schedule(static)
    for (Index row = 0; row < row_count(); ++row) {
      std::fill_n(coefficients_.data() + row * layout_.row, layout_.row, T{0});
    }
  }

  void add_cells(const StiffnessForm& form) {
    const Discretization& discretization = *form.discretization;
    // Bricks as for one thread, so that the order of sums does not depend on the threads.
    const CellBatches batches(discretization.mesh, kLanes<T>, kArrays * sizeof(T), 1);
    const auto kernel = make_tensor_cell_kernel<T>(
        discretization,
        std::make_shared<const GeometricFactors<T>>(discretization, batches, form.coefficient));
    for (int color = 0; color < batches.color_count(); ++color) {
      const auto numbers = batches.bricks_of_color(color);
      parallel_ranges(static_cast<Index>(numbers.size()), [&](Range range) {
        HostArray<Lanes<T>> unit(kNodes, Lanes<T>{});
        HostArray<Lanes<T>> column(kNodes);
        HostArray<Lanes<T>> scratch(static_cast<std::size_t>(kernel->scratch_size()));
        for (Index b = range.begin; b < range.end; ++b) {
          batches.for_each_batch(batches.bricks()[numbers[b]], [&](const CellBatch& batch) {
            for (int j = 0; j < kNodes; ++j) {
              unit[j] = broadcast(T{1});
              kernel->apply(batch.index, unit.data(), column.data(), scratch.data());
              unit[j] = Lanes<T>{};
              for (int lane = 0; lane < batch.active; ++lane) {
                add_column(form.dirichlet, batch.cells[lane], j, lane, column.data());
              }
            }
          });
        }
      });
    }
  }

  // Adds K_c[i][j] for the free nodes i that j is not earlier than, if j is free, too.
  void add_column(FaceSet dirichlet, const IndexTriple& cell, int j, int lane,
                  const Lanes<T>* column) {
    const IndexTriple at_j = node_of_cell(cell, j);
    if (lattice_.on_faces(at_j, dirichlet)) return;
    for (int i = 0; i <= j; ++i) {
      const IndexTriple at_i = node_of_cell(cell, i);
      if (lattice_.on_faces(at_i, dirichlet)) continue;
      const int k =
          static_cast<int>((at_j[0] - at_i[0]) + 3 * (at_j[1] - at_i[1]) + 9 * (at_j[2] - at_i[2]));
      coefficients_[place(k, lattice_.node_index(at_i))] += column[i][lane];
    }
  }

  static IndexTriple node_of_cell(const IndexTriple& cell, int i) {
    return {cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2 & 1)};
  }

  void add_robin_faces(const StiffnessForm& form) {
    const RobinFaces<T> robin(form);
    robin.for_each_entry([&](Index i, Index j, T value) {
      if (j < i) return;
      const IndexTriple at_i = lattice_.node_position(i);
      const IndexTriple at_j = lattice_.node_position(j);
      if (lattice_.on_faces(at_i, form.dirichlet) || lattice_.on_faces(at_j, form.dirichlet)) {
        return;
      }
      const int k =
          static_cast<int>((at_j[0] - at_i[0]) + 3 * (at_j[1] - at_i[1]) + 9 * (at_j[2] - at_i[2]));
      coefficients_[place(k, i)] += value;
    });
  }

  static constexpr int kNodes = 1 << dim;

  NodeLattice lattice_;
  StencilLayout layout_;
  HostArray<T> coefficients_;  // as StencilLayout says, zeros in the padding
  WriteTo where_;
};

}  // namespace

Index stencil_bytes(const NodeLattice& lattice, Index value_bytes) {
  return stencil_values(make_stencil_layout(lattice.dimension(), lattice.extents(), value_bytes)) *
         value_bytes;
}

Index stencil_peak_bytes(FactorKind kind, const NodeLattice& lattice, Index cells,
                         int points_per_axis, Index value_bytes) {
  return stencil_bytes(lattice, value_bytes) +
         geometric_factor_bytes(kind, lattice.dimension(), cells, points_per_axis, value_bytes);
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_stencil_operator(const StiffnessForm& form) {
  const NodeLattice& lattice = form.discretization->lattice;
  const std::string reason = why_not_stencil(lattice);
  if (!reason.empty()) throw std::invalid_argument(reason);
  if (lattice.dimension() == 2) return std::make_unique<StencilOperator<T, 2>>(form);
  return std::make_unique<StencilOperator<T, 3>>(form);
}

template std::unique_ptr<LinearOperator<double, Host>> make_stencil_operator(const StiffnessForm&);
template std::unique_ptr<LinearOperator<float, Host>> make_stencil_operator(const StiffnessForm&);

}  // namespace tessera
