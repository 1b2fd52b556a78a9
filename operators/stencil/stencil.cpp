// This file makes and applies the stencil on the host.
#include "operators/stencil/stencil.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/lane_shuffles.hpp"
#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/cells/streaming_store.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/robin_faces.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

// Rows of coefficients that one thread goes through from plane to plane: half an L2 cache.
constexpr Index kBrickBytes = Index{512} << 10;

// The couplings of a row of nodes to a row around it: c_s[i] of x_{i + s}, s = -1, 0, 1.
template <class T>
struct RowTerms {
  const T* x;
  const T* c[3];
};

// sum + the terms of nodes i .. i + kLanes - 1 with x of the vectors before, at and after i, of
// which one value each is used.
template <class T>
[[gnu::always_inline]] inline Lanes<T> add_terms(const T* const (&c)[3], Index i, Lanes<T> before,
                                                 Lanes<T> at, Lanes<T> after, Lanes<T> sum) {
  sum += load_lanes(c[0] + i) * shift_up<T>(before, at);
  sum += load_lanes(c[1] + i) * at;
  sum += load_lanes(c[2] + i) * shift_down<T>(at, after);
  return sum;
}

// Brings memory into the L2 cache, some lines at a time: the hardware does not foresee that the
// next row follows.
class Ahead {
 public:
  Ahead(const void* begin, const void* end)
      : at_(static_cast<const char*>(begin)), end_(static_cast<const char*>(end)) {}

  [[gnu::always_inline]] inline void fetch() {
    constexpr int kLine = 64;
    constexpr int kLines = 5;  // 14 coefficients in three calls, or 5 in one
    if (end_ - at_ < kLines * kLine) return;
    for (int line = 0; line < kLines; ++line) __builtin_prefetch(at_ + line * kLine, 0, 2);
    at_ += kLines * kLine;
  }

 private:
  const char* at_;
  const char* end_;
};

enum class SumStart { zero, sums };

// sums[i] = (0 or sums[i]) + the terms of three rows, i < n; x beyond the ends of a row counts as
// 0.
template <SumStart start, class T>
void add_rows(const std::array<RowTerms<T>, 3>& rows, Index n, Ahead* ahead, T* sums) {
  const auto first_sum = [&](Index i) {
    return start == SumStart::zero ? Lanes<T>{} : load_lanes(sums + i);
  };
  if (n < kLanes<T>) {
    for (Index i = 0; i < n; ++i) {
      T sum = start == SumStart::zero ? T{0} : sums[i];
      for (const RowTerms<T>& row : rows) {
        for (Index s = i == 0 ? 0 : -1; s <= (i == n - 1 ? 0 : 1); ++s) {
          sum += row.c[s + 1][i] * row.x[i + s];
        }
      }
      sums[i] = sum;
    }
    return;
  }
  // Copies, which a store cannot change.
  const auto [a, b, c] = rows;
  Lanes<T> before[3] = {};
  Lanes<T> at[3] = {load_lanes(a.x), load_lanes(b.x), load_lanes(c.x)};
  Index i = 0;
  for (; i + 2 * kLanes<T> <= n; i += kLanes<T>) {
    ahead->fetch();
    const Index next = i + kLanes<T>;
    const Lanes<T> after[3] = {load_lanes(a.x + next), load_lanes(b.x + next),
                               load_lanes(c.x + next)};
    Lanes<T> sum = add_terms<T>(a.c, i, before[0], at[0], after[0], first_sum(i));
    sum = add_terms<T>(b.c, i, before[1], at[1], after[1], sum);
    sum = add_terms<T>(c.c, i, before[2], at[2], after[2], sum);
    store_lanes<T>(sum, sums + i);
    for (int r = 0; r < 3; ++r) {
      before[r] = at[r];
      at[r] = after[r];
    }
  }
  // The rest is a vector or two that overlap.
  const auto edge = [&](Index j) {
    Lanes<T> sum = first_sum(j);
    for (const RowTerms<T>& row : rows) {
      Lanes<T> left{};
      Lanes<T> right{};
      if (j > 0) left[kLanes<T> - 1] = row.x[j - 1];
      if (j + kLanes<T> < n) right[0] = row.x[j + kLanes<T>];
      sum = add_terms<T>(row.c, j, left, load_lanes(row.x + j), right, sum);
    }
    return sum;
  };
  const Lanes<T> last = edge(n - kLanes<T>);
  store_lanes<T>(edge(i), sums + i);
  store_lanes<T>(last, sums + n - kLanes<T>);
}

template <class T, int dim>
class StencilOperator final : public LinearOperator<T, Host> {
 public:
  explicit StencilOperator(const BilinearForm& form)
      : lattice_(form.discretization->lattice),
        layout_(make_stencil_layout(lattice_, sizeof(T))),
        coefficients_(static_cast<std::size_t>(stencil_values(layout_))),
        where_(write_to(size() * static_cast<Index>(sizeof(T)))) {
    clear();
    add_cells(form);
    add_robin_faces(form);
    for_each_face_node(lattice_, form.dirichlet, [&](Index node) {
      coefficients_[place(0, lattice_.node_position(node))] = T{1};
    });
  }

  Index size() const override { return lattice_.size(); }
  std::string name() const override { return kStencilName; }

  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    const Index n = layout_.extent[0];
    const Index rows_per_plane = layout_.extent[1];
    const Index rows_per_brick =
        std::max<Index>(kBrickBytes / (2 * layout_.row * static_cast<Index>(sizeof(T))), kMinRows);
    parallel_ranges(row_count(), [&](Range rows) {
      HostArray<T> sums(static_cast<std::size_t>(n));
      const HostArray<T> zeros(static_cast<std::size_t>(n), T{0});
      const Index first_plane = rows.begin / rows_per_plane;
      const Index end_plane = ceil_div(rows.end, rows_per_plane);
      for (Index brick = 0; brick < rows_per_plane; brick += rows_per_brick) {
        for (Index z = first_plane; z < end_plane; ++z) {
          const Index begin = std::max(rows.begin, z * rows_per_plane + brick);
          const Index end = std::min(
              rows.end, z * rows_per_plane + std::min(brick + rows_per_brick, rows_per_plane));
          for (Index row = begin; row < end; ++row) {
            const Index next =
                row + 1 < end ? row + 1 : std::min(begin + rows_per_plane, row_count() - 1);
            const T* const ahead = coefficients_.data() + next * layout_.row;
            sum_row(row - z * rows_per_plane, z, x.data(), zeros.data(),
                    Ahead(ahead, ahead + layout_.row), sums.data());
            write_values(sums.data(), n, where_,
                         y.data() + first_node(row - z * rows_per_plane, z));
          }
        }
      }
      finish_streaming();
    });
  }

  void do_diagonal(HostVector<T>& d) const override {
    const Index n = layout_.extent[0];
#pragma omp parallel for schedule(static)
    for (Index row = 0; row < row_count(); ++row) {
      std::copy_n(coefficients_.data() + row * layout_.row, n,
                  d.data() + first_node(row % layout_.extent[1], row / layout_.extent[1]));
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
  static constexpr Index kMinRows = 4;
  static constexpr int kNodes = 1 << dim;

  Index row_count() const { return static_cast<Index>(layout_.extent[1]) * layout_.extent[2]; }

  // Of row (y, z).
  Index first_node(Index y, Index z) const { return layout_.x_row * (y + layout_.extent[1] * z); }

  // Of coefficient k of the node at this position of the lattice.
  Index place(int k, const IndexTriple& at) const {
    return k * layout_.array + at[0] + layout_.row * at[1] + layout_.plane * at[2];
  }

  // The number of neighbor (x, y, z) if it is later than the node, 0 the node itself.
  static constexpr int neighbor(int x, int y, int z) {
    return dim == 3 ? x + 3 * y + 9 * z : x + 3 * z;
  }

  // The terms of row (y, z) with row (y + step_y, z + step_z); zeros if there is no such row.
  RowTerms<T> terms(Index y, Index z, int step_y, int step_z, const T* x, const T* zeros) const {
    const Index row = y + layout_.extent[1] * z;
    const bool exists = y + step_y >= 0 && y + step_y < layout_.extent[1] && z + step_z >= 0 &&
                        z + step_z < layout_.extent[2];
    if (!exists) return {x + first_node(y, z), {zeros, zeros, zeros}};
    const Index other = row + step_y + static_cast<Index>(layout_.extent[1]) * step_z;
    RowTerms<T> result{x + first_node(y + step_y, z + step_z), {}};
    for (int s = -1; s <= 1; ++s) {
      const int k = neighbor(s, step_y, step_z);
      // Of an earlier neighbor it is the neighbor's coefficient.
      result.c[s + 1] = k >= 0 ? coefficients_.data() + k * layout_.array + row * layout_.row
                               : coefficients_.data() - k * layout_.array + other * layout_.row + s;
    }
    return result;
  }

  // sums[i] = row (y, z) of A x.
  void sum_row(Index y, Index z, const T* x, const T* zeros, Ahead ahead, T* sums) const {
    const Index n = layout_.extent[0];
    const auto of = [&](int step_y, int step_z) { return terms(y, z, step_y, step_z, x, zeros); };
    if constexpr (dim == 2) {
      add_rows<SumStart::zero, T>({of(0, -1), of(0, 0), of(0, 1)}, n, &ahead, sums);
    } else {
      add_rows<SumStart::zero, T>({of(-1, -1), of(0, -1), of(1, -1)}, n, &ahead, sums);
      add_rows<SumStart::sums, T>({of(-1, 0), of(0, 0), of(1, 0)}, n, &ahead, sums);
      add_rows<SumStart::sums, T>({of(-1, 1), of(0, 1), of(1, 1)}, n, &ahead, sums);
    }
  }

  void clear() {
#pragma omp parallel for schedule(static)
    for (Index row = 0; row < row_count(); ++row) {
      std::fill_n(coefficients_.data() + row * layout_.row, layout_.row, T{0});
    }
  }

  void add_cells(const BilinearForm& form) {
    const Discretization& discretization = *form.discretization;
    // Bricks as for one thread, so that the order of sums does not depend on the threads.
    const CellBatches batches(discretization.mesh, kLanes<T>, kArrays * sizeof(T), 1);
    const auto kernel = make_element_kernel<T>(
        discretization,
        std::make_shared<GeometricFactors<T>>(discretization, batches, form.coefficient,
                                              form.reaction, form.context()));
    const std::array<Couplings, kNodes> places = coupling_places();
    for (int color = 0; color < batches.color_count(); ++color) {
      const auto numbers = batches.bricks_of_color(color);
      parallel_ranges(static_cast<Index>(numbers.size()), [&](Range range) {
        HostArray<Lanes<T>> unit(kNodes, Lanes<T>{});
        HostArray<Lanes<T>> column(kNodes);
        HostArray<Lanes<T>> scratch(static_cast<std::size_t>(kernel->scratch_size()));
        std::array<CellOfMatrix, kLanes<T>> cells{};
        for (Index b = range.begin; b < range.end; ++b) {
          batches.for_each_batch(batches.bricks()[numbers[b]], [&](const CellBatch& batch) {
            for (int lane = 0; lane < batch.active; ++lane) {
              cells[lane] = cell_at(batch.cells[lane], form.dirichlet);
            }
            for (int j = 0; j < kNodes; ++j) {
              unit[j] = broadcast(T{1});
              kernel->apply(batch, unit.data(), column.data(), scratch.data());
              unit[j] = Lanes<T>{};
              for (int lane = 0; lane < batch.active; ++lane) {
                add_column(cells[lane], places[j], j, lane, column.data());
              }
            }
          });
        }
      });
    }
  }

  // Where a cell's first node is, and which of its nodes are constrained, a bit each.
  struct CellOfMatrix {
    Index place;
    unsigned constrained;
  };
  CellOfMatrix cell_at(const IndexTriple& cell, FaceSet dirichlet) const {
    CellOfMatrix found{place(0, cell), 0U};
    for (int i = 0; i < kNodes; ++i) {
      if (lattice_.on_faces(node_of_cell(cell, i), dirichlet)) found.constrained |= 1U << i;
    }
    return found;
  }

  // For node j of a cell, where the coefficients of nodes i <= j with it lie, from the cell's
  // place.
  using Couplings = std::array<Index, kNodes>;
  std::array<Couplings, kNodes> coupling_places() const {
    std::array<Couplings, kNodes> places{};
    for (int j = 0; j < kNodes; ++j) {
      const IndexTriple at_j = node_of_cell({}, j);
      for (int i = 0; i <= j; ++i) {
        const IndexTriple at_i = node_of_cell({}, i);
        places[j][i] = place(coupling(at_i, at_j), at_i);
      }
    }
    return places;
  }

  // Adds K_c[i][j] for the free nodes i that j is not earlier than, if j is free, too.
  void add_column(const CellOfMatrix& cell, const Couplings& places, int j, int lane,
                  const Lanes<T>* column) {
    if ((cell.constrained >> j & 1U) != 0U) return;
    T* const coefficients = coefficients_.data() + cell.place;
    for (int i = 0; i <= j; ++i) {
      if ((cell.constrained >> i & 1U) != 0U) continue;
      coefficients[places[i]] += column[i][lane];
    }
  }

  // The number of the later neighbor at_j of at_i.
  static int coupling(const IndexTriple& at_i, const IndexTriple& at_j) {
    return static_cast<int>((at_j[0] - at_i[0]) + 3 * (at_j[1] - at_i[1]) +
                            9 * (at_j[2] - at_i[2]));
  }

  static IndexTriple node_of_cell(const IndexTriple& cell, int i) {
    return {cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2 & 1)};
  }

  void add_robin_faces(const BilinearForm& form) {
    const RobinFaces<T> robin(form);
    robin.for_each_entry([&](Index i, Index j, T value) {
      if (j < i) return;
      const IndexTriple at_i = lattice_.node_position(i);
      const IndexTriple at_j = lattice_.node_position(j);
      if (lattice_.on_faces(at_i, form.dirichlet) || lattice_.on_faces(at_j, form.dirichlet)) {
        return;
      }
      coefficients_[place(coupling(at_i, at_j), at_i)] += value;
    });
  }

  NodeLattice lattice_;
  StencilLayout layout_;
  HostArray<T> coefficients_;  // as StencilLayout says, zeros in the padding
  WriteTo where_;
};

}  // namespace

Index stencil_bytes(const FormShape& shape) {
  return Saturated(stencil_values(shape.lattice, shape.value_bytes)) * shape.value_bytes;
}

Index stencil_peak_bytes(const FormShape& shape) {
  return Saturated(stencil_bytes(shape)) +
         geometric_factor_bytes(shape.factors(), shape.reaction, shape.dimension(),
                                shape.mesh.cell_count(), shape.points, shape.value_bytes);
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_stencil_operator(const BilinearForm& form) {
  const NodeLattice& lattice = form.discretization->lattice;
  const std::string reason = why_not_stencil(lattice);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  if (lattice.dimension() == 2) return std::make_unique<StencilOperator<T, 2>>(form);
  return std::make_unique<StencilOperator<T, 3>>(form);
}

template std::unique_ptr<LinearOperator<double, Host>> make_stencil_operator(const BilinearForm&);
template std::unique_ptr<LinearOperator<float, Host>> make_stencil_operator(const BilinearForm&);

}  // namespace tessera
