// This file assembles the matrix on the host, and multiplies by it with Eigen.
#include "operators/csr/csr.hpp"

#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "mesh/lanes/host_array.hpp"
#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/batching.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/form/robin_faces.hpp"

namespace tessera {
namespace {

/// The free nodes along one axis that a lattice line's node couples to: [begin, begin + count).
struct Neighbors {
  Index begin;
  Index count;
};

/// Where every entry of the matrix is: rows are tensor products of ranges of neighbors.
class Pattern {
 public:
  Pattern(const NodeLattice& lattice, FaceSet dirichlet)
      : lattice_(lattice), dirichlet_(dirichlet) {
    const Index p = lattice.degree();
    for (int d = 0; d < 3; ++d) {
      const Index extent = lattice.extents()[d];
      if (d >= lattice.dimension()) {
        neighbors_[d].push_back({0, 1});
        continue;
      }
      const Index first = dirichlet[2 * d] ? 1 : 0;
      const Index last = dirichlet[2 * d + 1] ? extent - 2 : extent - 1;
      for (Index g = 0; g < extent; ++g) {
        const Index below = g % p == 0 ? g - p : g - g % p;
        const Index above = g % p == 0 ? g + p : g - g % p + p;
        const Index begin = std::max(first, below);
        neighbors_[d].push_back({begin, std::min(last, above) - begin + 1});
      }
    }
  }

  const NodeLattice& lattice() const { return lattice_; }
  bool is_constrained(const IndexTriple& node) const { return lattice_.on_faces(node, dirichlet_); }
  const Neighbors& along(int d, Index g) const { return neighbors_[d][g]; }

  Index row_length(const IndexTriple& node) const {
    if (is_constrained(node)) return 1;
    return along(0, node[0]).count * along(1, node[1]).count * along(2, node[2]).count;
  }
  /// Place of column `column` in the row of `row`; both are free and share a cell.
  Index place(const IndexTriple& row, const IndexTriple& column) const {
    const Neighbors& x = along(0, row[0]);
    const Neighbors& y = along(1, row[1]);
    const Neighbors& z = along(2, row[2]);
    return column[0] - x.begin + x.count * (column[1] - y.begin + y.count * (column[2] - z.begin));
  }

 private:
  NodeLattice lattice_;
  FaceSet dirichlet_;
  std::array<std::vector<Neighbors>, 3> neighbors_;
};

/// Where the entries of one cell's matrix K_c[i][j] are among those of the assembled one.
class CellEntries {
 public:
  template <class I>
  void find(const Pattern& pattern, const I* rows, const IndexTriple& cell) {
    const NodeLattice& lattice = pattern.lattice();
    const auto p = static_cast<Index>(lattice.degree());
    for (int d = 0; d < 3; ++d) {
      n_[d] = d < lattice.dimension() ? lattice.degree() + 1 : 1;
      place_[d].resize(static_cast<std::size_t>(n_[d]) * n_[d]);
      count_[d].resize(n_[d]);
      for (int a = 0; a < n_[d]; ++a) {
        const Neighbors& neighbors = pattern.along(d, cell[d] * p + a);
        count_[d][a] = neighbors.count;
        for (int b = 0; b < n_[d]; ++b) {
          place_[d][a * n_[d] + b] = cell[d] * p + b - neighbors.begin;
        }
      }
    }
    row_.clear();
    for (Index z = 0; z < n_[2]; ++z) {
      for (Index y = 0; y < n_[1]; ++y) {
        for (Index x = 0; x < n_[0]; ++x) {
          const IndexTriple node = {cell[0] * p + x, cell[1] * p + y, cell[2] * p + z};
          row_.push_back(pattern.is_constrained(node)
                             ? kConstrained
                             : static_cast<Index>(rows[lattice.node_index(node)]));
        }
      }
    }
  }

  /// Calls f(i, entry) for the free nodes i of the cell, if node j is free as well.
  template <class F>
  void for_each_in_column(int j, F&& f) const {
    if (row_[j] == kConstrained) return;
    const int jx = j % n_[0];
    const int jy = j / n_[0] % n_[1];
    const int jz = j / (n_[0] * n_[1]);
    int i = 0;
    for (int z = 0; z < n_[2]; ++z) {
      for (int y = 0; y < n_[1]; ++y) {
        const Index yz = place_[1][y * n_[1] + jy] + count_[1][y] * place_[2][z * n_[2] + jz];
        for (int x = 0; x < n_[0]; ++x, ++i) {
          if (row_[i] == kConstrained) continue;
          f(i, row_[i] + place_[0][x * n_[0] + jx] + count_[0][x] * yz);
        }
      }
    }
  }

 private:
  static constexpr Index kConstrained = -1;

  std::array<int, 3> n_{};
  std::array<std::vector<Index>, 3> place_;  // [a][b]: of node b in the line of node a, an axis
  std::array<std::vector<Index>, 3> count_;  // neighbors of node a along an axis
  std::vector<Index> row_;                   // first entry of a node's row
};

template <class T, class I>
class CsrOperator final : public CsrMatrix<T> {
 public:
  CsrOperator(const BilinearForm& form, const CellBatches& batches, const CellKernel<T>& kernel)
      : pattern_(form.discretization->lattice, form.dirichlet),
        matrix_(pattern_.lattice().size(), pattern_.lattice().size()) {
    allocate_rows();
    add_cells(batches, kernel);
    const RobinFaces<T> robin(form);
    const NodeLattice& lattice = pattern_.lattice();
    robin.for_each_entry([&](Index i, Index j, T value) {
      const IndexTriple row = lattice.node_position(i);
      const IndexTriple column = lattice.node_position(j);
      if (pattern_.is_constrained(row) || pattern_.is_constrained(column)) return;
      matrix_.valuePtr()[matrix_.outerIndexPtr()[i] + pattern_.place(row, column)] += value;
    });
  }

  Index size() const override { return pattern_.lattice().size(); }
  std::string name() const override { return operator_name("csr"); }

  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    // Unsigned: the CPU then needs no instruction to widen an index to an address.
    using Unsigned = std::make_unsigned_t<I>;
    const I* rows = matrix_.outerIndexPtr();
    const auto* columns = reinterpret_cast<const Unsigned*>(matrix_.innerIndexPtr());
    const T* values = matrix_.valuePtr();
    const T* from = x.data();
#pragma omp parallel for schedule(static)
    for (Index i = 0; i < size(); ++i) {
      const T* value = values + rows[i];
      const T* end = values + rows[i + 1];
      const Unsigned* c = columns + rows[i];
      // Four single loads make a vector sooner than the CPU's gather does.
      Four sums{};
      for (; value + 4 <= end; value += 4, c += 4) {
        sums += *reinterpret_cast<const Four*>(value) *
                Four{from[c[0]], from[c[1]], from[c[2]], from[c[3]]};
      }
      T rest{0};
      for (; value < end; ++value, ++c) rest += *value * from[*c];
      y[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
    }
  }

  void do_diagonal(HostVector<T>& d) const override {
    const NodeLattice& lattice = pattern_.lattice();
#pragma omp parallel for schedule(static)
    for (Index i = 0; i < size(); ++i) {
      const IndexTriple row = lattice.node_position(i);
      const Index place = pattern_.is_constrained(row) ? 0 : pattern_.place(row, row);
      d[i] = matrix_.valuePtr()[matrix_.outerIndexPtr()[i] + place];
    }
  }

  Index row_length(Index row) const override {
    return matrix_.outerIndexPtr()[row + 1] - matrix_.outerIndexPtr()[row];
  }
  void read_row(Index row, Index* columns, T* values) const override {
    const I begin = matrix_.outerIndexPtr()[row];
    const I end = matrix_.outerIndexPtr()[row + 1];
    std::copy(matrix_.innerIndexPtr() + begin, matrix_.innerIndexPtr() + end, columns);
    std::copy(matrix_.valuePtr() + begin, matrix_.valuePtr() + end, values);
  }

  Cost cost() const override {
    const double vectors = 2.0 * static_cast<double>(size()) * sizeof(T);
    return {vectors + static_cast<double>(bytes()), 2.0 * static_cast<double>(matrix_.nonZeros())};
  }

  Index bytes() const override {
    return matrix_.nonZeros() * static_cast<Index>(sizeof(T) + sizeof(I)) +
           (size() + 1) * static_cast<Index>(sizeof(I));
  }

 private:
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));

  // Counts rows, sums the counts, writes the columns (increasing) and zeros.
  void allocate_rows() {
    const NodeLattice& lattice = pattern_.lattice();
    I* rows = matrix_.outerIndexPtr();
    rows[0] = 0;
#pragma omp parallel for schedule(static)
    for (Index i = 0; i < lattice.size(); ++i) {
      rows[i + 1] = static_cast<I>(pattern_.row_length(lattice.node_position(i)));
    }
    for (Index i = 0; i < lattice.size(); ++i) rows[i + 1] += rows[i];
    matrix_.resizeNonZeros(rows[lattice.size()]);
    advise_huge_pages(matrix_.innerIndexPtr(), matrix_.nonZeros() * sizeof(I));
    advise_huge_pages(matrix_.valuePtr(), matrix_.nonZeros() * sizeof(T));
#pragma omp parallel for schedule(static)
    for (Index i = 0; i < lattice.size(); ++i) {
      const IndexTriple row = lattice.node_position(i);
      I* column = matrix_.innerIndexPtr() + rows[i];
      T* value = matrix_.valuePtr() + rows[i];
      if (pattern_.is_constrained(row)) {
        *column = static_cast<I>(i);
        *value = T{1};
        continue;
      }
      const Neighbors& x = pattern_.along(0, row[0]);
      const Neighbors& y = pattern_.along(1, row[1]);
      const Neighbors& z = pattern_.along(2, row[2]);
      std::fill_n(value, rows[i + 1] - rows[i], T{0});
      for (Index iz = z.begin; iz < z.begin + z.count; ++iz) {
        for (Index iy = y.begin; iy < y.begin + y.count; ++iy) {
          for (Index ix = x.begin; ix < x.begin + x.count; ++ix) {
            *column++ = static_cast<I>(lattice.node_index({ix, iy, iz}));
          }
        }
      }
    }
  }

  void add_cells(const CellBatches& batches, const CellKernel<T>& kernel) {
    const int nodes = pattern_.lattice().nodes_per_cell();
    for (int color = 0; color < batches.color_count(); ++color) {
      const auto numbers = batches.bricks_of_color(color);
      parallel_ranges(static_cast<Index>(numbers.size()), [&](Range range) {
        HostArray<Lanes<T>> unit(static_cast<std::size_t>(nodes), Lanes<T>{});
        HostArray<Lanes<T>> column(static_cast<std::size_t>(nodes));
        HostArray<Lanes<T>> scratch(static_cast<std::size_t>(kernel.scratch_size()));
        std::vector<CellEntries> entries(kLanes<T>);
        for (Index k = range.begin; k < range.end; ++k) {
          batches.for_each_batch(batches.bricks()[numbers[k]], [&](const CellBatch& batch) {
            for (int lane = 0; lane < batch.active; ++lane) {
              entries[lane].find(pattern_, matrix_.outerIndexPtr(), batch.cells[lane]);
            }
            for (int j = 0; j < nodes; ++j) {
              unit[j] = broadcast(T{1});
              kernel.apply(batch, unit.data(), column.data(), scratch.data());
              unit[j] = Lanes<T>{};
              for (int lane = 0; lane < batch.active; ++lane) {
                entries[lane].for_each_in_column(
                    j, [&](int i, Index entry) { matrix_.valuePtr()[entry] += column[i][lane]; });
              }
            }
          });
        }
      });
    }
  }

  Pattern pattern_;
  Eigen::SparseMatrix<T, Eigen::RowMajor, I> matrix_;
};

bool fits_32_bits(Index nonzeros) { return nonzeros <= std::numeric_limits<std::int32_t>::max(); }

}  // namespace

// Free rows are tensor products. Along an axis of n cells nodes make n (p + 1)^2 pairs that share
// a cell, n - 1 of them twice; a constrained end takes its row and its column, 2 p + 1 pairs. Where
// both ends share a cell, the two pairs of them are in both.
Index csr_nonzeros(const NodeLattice& lattice, FaceSet dirichlet) {
  const Index p = lattice.degree();
  Saturated free_entries = 1;
  Index free_rows = 1;
  for (int d = 0; d < lattice.dimension(); ++d) {
    const Index extent = lattice.extents()[d];
    const Index cells = (extent - 1) / p;
    const Index ends = (dirichlet[2 * d] ? 1 : 0) + (dirichlet[2 * d + 1] ? 1 : 0);
    const Index shared = ends == 2 && cells == 1 ? 2 : 0;
    free_entries *= cells * (p + 1) * (p + 1) - (cells - 1) - ends * (2 * p + 1) + shared;
    free_rows *= extent - ends;
  }
  return free_entries + (lattice.size() - free_rows);
}

Index csr_bytes(const NodeLattice& lattice, FaceSet dirichlet, Index value_bytes) {
  const Index nonzeros = csr_nonzeros(lattice, dirichlet);
  const Index index_bytes = fits_32_bits(nonzeros) ? 4 : 8;
  return Saturated(nonzeros) * (value_bytes + index_bytes) + (lattice.size() + 1) * index_bytes;
}

template <class T>
std::unique_ptr<CsrMatrix<T>> make_csr_matrix(const BilinearForm& form) {
  const Discretization& discretization = *form.discretization;
  const auto batches = make_batches<T>(discretization);
  const auto kernel = make_element_kernel<T>(
      discretization,
      std::make_shared<GeometricFactors<T>>(discretization, *batches, form.coefficient,
                                            form.reaction, form.context()));
  if (fits_32_bits(csr_nonzeros(discretization.lattice, form.dirichlet))) {
    return std::make_unique<CsrOperator<T, std::int32_t>>(form, *batches, *kernel);
  }
  return std::make_unique<CsrOperator<T, std::int64_t>>(form, *batches, *kernel);
}

template std::unique_ptr<CsrMatrix<double>> make_csr_matrix(const BilinearForm&);
template std::unique_ptr<CsrMatrix<float>> make_csr_matrix(const BilinearForm&);

}  // namespace tessera
