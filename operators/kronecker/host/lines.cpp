// This file has the products along the lines of a batch, unrolled for low degrees.
#include "operators/kronecker/host/lines.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "mesh/element/sum_factorization.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/with_size.hpp"
#include "operators/kronecker/factors/stiffness_rounding.hpp"
#include "operators/kronecker/host/lanes.hpp"
#include "operators/kronecker/host/products.hpp"
#include "operators/kronecker/host/row_edge.hpp"

namespace tessera {
namespace {

// The even or odd half of a centrosymmetric matrix, column by column.
template <class T>
void append_half(const std::vector<double>& matrix, int p, Parity parity, std::vector<T>& halves) {
  const int n = p + 1;
  const int pairs = n / 2;
  const int size = parity == Parity::even ? n - pairs : pairs;
  for (int j = 0; j < size; ++j) {
    for (int i = 0; i < size; ++i) {
      const double left = matrix[i * n + j];
      const double right = matrix[i * n + p - j];
      const double sum = parity == Parity::even ? left + right : left - right;
      halves.push_back(static_cast<T>(j < pairs ? 0.5 * sum : left));
    }
  }
}

}  // namespace

template <class T>
LineAxis<T>::LineAxis(const AxisFactors& axis)
    : kind(axis.kind), degree(axis.degree), cells(axis.cells), constrained(axis.constrained) {
  const int p = degree;
  const Index square = power(p + 1, 2);
  const std::vector<double> cell_stiffness =
      rounded_cell_stiffness(axis, std::numeric_limits<T>::digits);
  full.resize(static_cast<std::size_t>(2 * cells * square));
  for (Index c = 0; c < cells; ++c) {
    const Index from = kind == AxisCells::alike ? 0 : c * square;
    for (Index e = 0; e < square; ++e) {
      full[2 * c * square + e] = static_cast<T>(axis.cell_mass[from + e]);
      full[(2 * c + 1) * square + e] = static_cast<T>(cell_stiffness[from + e]);
    }
  }
  append_half(axis.cell_mass, p, Parity::even, halves);
  append_half(cell_stiffness, p, Parity::even, halves);
  append_half(axis.cell_mass, p, Parity::odd, halves);
  append_half(cell_stiffness, p, Parity::odd, halves);
  for (int side = 0; side < 2; ++side) end_terms[side] = static_cast<T>(axis.end_terms[side]);
}

namespace {

/// @tparam P degree, 0 = known at run time only.
template <class T, int dim, int P>
class LineKernelsOf final : public LineKernels<T> {
 public:
  explicit LineKernelsOf(const KroneckerFactors& factors)
      : x_(factors.axes[0]), y_(factors.axes[1]), reaction_(static_cast<T>(factors.reaction)) {
    if constexpr (dim == 3) z_.emplace(factors.axes[2]);
    const Index square = power(p() + 1, 2);
    const Index batches = line_batches<T>(x_.cells);
    x_full_.assign(static_cast<std::size_t>(2 * batches * square), Lanes<T>{});
    for (Index c = 0; c < x_.cells; ++c) {
      for (Index e = 0; e < 2 * square; ++e) {
        x_full_[c / kLanes<T> * 2 * square + e][c % kLanes<T>] = x_.full[2 * c * square + e];
      }
    }
  }

  void x_rows(Index batch, Index rows, const T* u, Index stride, Lanes<T>* carry, Lanes<T>* a,
              Lanes<T>* b) const override {
    const auto run = [&](const auto& cell, auto edge) {
      for (Index j = 0; j < rows; ++j) {
        x_row(cell, edge, u + j * stride, rows * stride, carry + 2 * j, a + j * p(), b + j * p());
      }
    };
    const auto run_with = [&](const auto& cell) {
      if (batch > 0 && batch + 2 < line_batches<T>(x_.cells)) {
        run(cell, NoRowEdge<T>{});
      } else {
        run(cell, RowEdge<T>(batch, x_.cells, x_.constrained, x_.end_terms));
      }
    };
    if (is_half(x_)) {
      run_with(HalfCell<T, kHalf, Entries::in_memory>(x_.halves.data()));
    } else {
      const Index square = power(p() + 1, 2);
      const Lanes<T>* matrices = x_full_.data() + 2 * batch * square;
      run_with(FullCell<T, Lanes<T>, P>{matrices, matrices + square, p()});
    }
  }

  void y_lines(Index first, Index cells, Lanes<T>* carry, const Lanes<T>* a, const Lanes<T>* b,
               Lanes<T>* c, Lanes<T>* d) const override {
    if (cells == 0) {
      copy_row(a, carry);
      copy_row(b, carry + p());
      std::fill_n(carry + 2 * p(), 2 * p(), Lanes<T>{});
      return;
    }
    with_cells(y_, [&](auto cell_of) {
      for (int i = 0; i < p(); ++i) {
        y_line(cell_of, first, cells, carry + i, a + i, b + i, c + i, d + i);
      }
    });
    const Index end = cells * p() * p();
    if (first + cells == y_.cells && y_.end_terms[1] != T{0}) {
      for (int i = 0; i < p(); ++i) c[end + i] += y_.end_terms[1] * a[end + i];
    }
    copy_row(a + end, carry);
    copy_row(b + end, carry + p());
  }

  void z_lines(Index first, Index cells, Index n, Lanes<T>* carry, Lanes<T>* c,
               const Lanes<T>* d) const override {
    if constexpr (dim == 3) {
      if (cells == 0) {
        const Index plane = brick_plane(p());
        std::copy_n(c, n, carry);
        std::copy_n(d, n, carry + plane);
        std::fill_n(carry + 2 * plane, n, Lanes<T>{});
        return;
      }
      with_cells(*z_, [&](auto cell_of) {
        for (Index i = 0; i < n; ++i) {
          z_line(cell_of, first, cells, carry + i, c + i, d + i);
        }
      });
    }
  }

  void write_rows(Index rows, const Lanes<T>* results, const RowsInLines<T>& to) const override {
    for (Index j = 0; j < rows; ++j) {
      const Index place = to.place(j);
      const Index shift = place % kLanes<T>;
      write_row(results + j * p(), LaneShift<T>(shift), to.last[j], to.line(j) + place - shift);
    }
  }

  double flops() const override {
    const auto nodes = [](const LineAxis<T>& axis) {
      return static_cast<double>(nodes_along(axis.cells, axis.degree));
    };
    // A result M u beside one with K in it, from one line or two: the last axis has no M u.
    const LineCount first{.inputs = 1, .masses = 1, .results = 2};
    const LineCount middle{.inputs = 2, .masses = 2, .results = 2};
    const LineCount last{.inputs = 2, .masses = 1, .results = 1};
    const double reaction =
        reaction_ == T{0} ? 0.0 : 2.0 * (x_.degree + 1) * static_cast<double>(x_.cells);
    const double along_x = line_flops(x_, first) + reaction;
    if constexpr (dim == 2) {
      return along_x * nodes(y_) + line_flops(y_, last) * nodes(x_);
    } else {
      return along_x * nodes(y_) * nodes(*z_) + line_flops(y_, middle) * nodes(x_) * nodes(*z_) +
             line_flops(*z_, last) * nodes(x_) * nodes(y_);
    }
  }

  void set_reaction(double reaction) override { reaction_ = static_cast<T>(reaction); }

  Index bytes() const override {
    const auto of = [](const LineAxis<T>& axis) {
      return static_cast<Index>((axis.full.size() + axis.halves.size()) * sizeof(T));
    };
    return of(x_) + of(y_) + (z_ ? of(*z_) : 0) +
           static_cast<Index>(x_full_.size() * sizeof(Lanes<T>));
  }

 private:
  static constexpr int kHalf = std::max(P, 1);
  static constexpr int kMaxCopied = 4;  // beyond, the compiler spills registers
  static constexpr int kLine = P > 0 ? P + 1 : kMaxPointsPerAxis + 1;

  int p() const { return P > 0 ? P : x_.degree; }
  static bool is_half(const LineAxis<T>& axis) { return P > 0 && axis.kind == AxisCells::alike; }

  // What there is on a line beside one product with K.
  struct LineCount {
    double inputs;
    double masses;
    double results;
  };
  // Of a line through all cells: products.hpp.
  static double line_flops(const LineAxis<T>& axis, const LineCount& count) {
    const double n = axis.degree + 1;
    const int half = (axis.degree + 1) / 2;
    const double pairs = half;
    const double even = n - pairs;
    const double of_cell = is_half(axis)
                               ? 2.0 * count.masses * (even * even + pairs * pairs) +
                                     2.0 * (even * (even - 1.0) + pairs * pairs) + even +
                                     2.0 * pairs * (count.inputs + count.results)
                               : 2.0 * count.masses * n * n + 2.0 * n * (n - 1.0) + n - 1.0;
    return (of_cell + count.results) * static_cast<double>(axis.cells);
  }

  // Calls f(cell_of), cell_of(c) being the matrices of cell c.
  template <class F>
  static void with_cells(const LineAxis<T>& axis, F f) {
    if (is_half(axis)) {
      using Cell = HalfCell<T, kHalf, kHalf <= kMaxCopied ? Entries::copied : Entries::in_memory>;
      const Cell cell(axis.halves.data());
      f([&cell](Index) -> const Cell& { return cell; });
    } else {
      const Index square = power(axis.degree + 1, 2);
      f([&axis, square](Index c) {
        const T* matrices = axis.full.data() + 2 * c * square;
        return FullCell<T, T, P>{matrices, matrices + square, axis.degree};
      });
    }
  }

  // A call of memmove would take longer.
  [[gnu::always_inline]] void copy_row(const Lanes<T>* from, Lanes<T>* to) const {
    const int p = this->p();
#pragma GCC unroll 8
    for (int i = 0; i < p; ++i) to[i] = from[i];
  }

  [[gnu::always_inline]] void write_row(const Lanes<T>* row, LaneShift<T> shift, Lanes<T>& last,
                                        T* to) const {
    const int p = this->p();
    Lanes<T> nodes[P > 0 ? P : kMaxPointsPerAxis];
    if constexpr (P > 0) {
      to_nodes<T, P>(row, nodes);
    } else {
      for (int i = 0; i < p * kLanes<T>; ++i) {
        nodes[i / kLanes<T>][i % kLanes<T>] = row[i % p][i / p];
      }
    }
    Lanes<T> before = last;
#pragma GCC unroll 8
    for (int i = 0; i < p; ++i) {
      store_lanes<T>(shift(before, nodes[i]), to + i * kLanes<T>);
      before = nodes[i];
    }
    last = before;
  }

  // One row of one batch; the same row of the next bricks lies `ahead` values on.
  template <class Cell, class AtEdge>
  [[gnu::always_inline]] void x_row(const Cell& cell, const AtEdge& edge, const T* u, Index ahead,
                                    Lanes<T>* carry, Lanes<T>* a, Lanes<T>* b) const {
    const int p = this->p();
    Lanes<T> by_cell[kLine] = {};
    if constexpr (P > 0) {
#pragma GCC unroll 8
      for (int i = 0; i < P; ++i) {
        // The hardware does not follow so many rows.
        __builtin_prefetch(u + ahead + i * kLanes<T>, 0, 2);
      }
      load_cells<T, P>(u, by_cell);
    } else {
      for (int i = 0; i < p; ++i) {
        for (int lane = 0; lane < kLanes<T>; ++lane) by_cell[i][lane] = u[lane * p + i];
      }
    }
    edge.clear_beyond(by_cell, p);
    by_cell[p] = shift_down<T>(by_cell[0], broadcast(edge.kept(u[kLanes<T> * p])));
    const Lanes<T> first = by_cell[0];
    edge.clear_last(by_cell[0]);
    Lanes<T> mass[kLine];
    Lanes<T> stiffness[kLine];
    cell.mass_and_stiffness(by_cell, mass, stiffness);
    if (reaction_ != T{0}) {
#pragma GCC unroll 9
      for (int i = 0; i <= p; ++i) stiffness[i] += reaction_ * mass[i];
    }
    a[0] = mass[0] + shift_up<T>(carry[0], mass[p]);
    Lanes<T> b_0 = stiffness[0] + shift_up<T>(carry[1], stiffness[p]);
    edge.add_end_terms(first, b_0);
    b[0] = b_0;
#pragma GCC unroll 8
    for (int i = 1; i < p; ++i) {
      a[i] = mass[i];
      b[i] = stiffness[i];
    }
    carry[0] = mass[p];
    carry[1] = stiffness[p];
  }

  template <class CellOf>
  [[gnu::always_inline]] void y_line(const CellOf& cell_of, Index first, Index cells,
                                     Lanes<T>* carry, const Lanes<T>* a, const Lanes<T>* b,
                                     Lanes<T>* c, Lanes<T>* d) const {
    const int p = this->p();
    const Index stride = p;
    Lanes<T> top_c = carry[2 * p];
    Lanes<T> top_d = carry[3 * p];
    if (first == 0) top_c += y_.end_terms[0] * carry[0];
    for (Index cell = 0; cell < cells; ++cell) {
      const Index at = cell * p * stride;
      const Line<T> u{cell == 0 ? carry : a + at, a + at, stride};
      const Line<T> v{cell == 0 ? carry + p : b + at, b + at, stride};
      Lanes<T> y0[kLine];
      Lanes<T> y1[kLine];
      cell_of(first + cell).sum_and_mass(u, v, y0, y1);
      c[at] = top_c + y0[0];
      d[at] = top_d + y1[0];
#pragma GCC unroll 8
      for (int i = 1; i < p; ++i) {
        c[at + i * stride] = y0[i];
        d[at + i * stride] = y1[i];
      }
      top_c = y0[p];
      top_d = y1[p];
    }
    carry[2 * p] = c[cells * p * stride] = top_c;
    carry[3 * p] = d[cells * p * stride] = top_d;
  }

  template <class CellOf>
  [[gnu::always_inline]] void z_line(const CellOf& cell_of, Index first, Index cells,
                                     Lanes<T>* carry, Lanes<T>* c, const Lanes<T>* d) const {
    const int p = this->p();
    const Index plane = brick_plane(p);
    // The next batch's, which is not in the L1 cache.
    for (int k = 0; k < 3; ++k) __builtin_prefetch(carry + (3 + k) * plane);
    Lanes<T> top = carry[2 * plane];
    const Lanes<T>* first_c = carry;
    const Lanes<T>* first_d = carry + plane;
    if (first == 0) top += z_->end_terms[0] * *first_d;
    const Index end = cells * p * plane;
    const Lanes<T> last_c = c[end];
    const Lanes<T> last_d = d[end];
    for (Index cell = 0; cell < cells; ++cell) {
      const Index at = cell * p * plane;
      Lanes<T> y[kLine];
      cell_of(first + cell).sum({first_d, d + at, plane}, {first_c, c + at, plane}, y);
      c[at] = top + y[0];
#pragma GCC unroll 8
      for (int i = 1; i < p; ++i) c[at + i * plane] = y[i];
      top = y[p];
      first_c = c + at + p * plane;
      first_d = d + at + p * plane;
    }
    carry[0] = last_c;
    carry[plane] = last_d;
    carry[2 * plane] = top;
    if (first + cells == z_->cells) top += z_->end_terms[1] * last_d;
    c[end] = top;
  }

  LineAxis<T> x_;
  LineAxis<T> y_;
  std::optional<LineAxis<T>> z_;
  T reaction_;
  HostArray<Lanes<T>> x_full_;  // [batch][2][p + 1][p + 1]
};

}  // namespace

template <class T>
std::unique_ptr<LineKernels<T>> make_line_kernels(const KroneckerFactors& factors) {
  return with_size(factors.dimension, factors.axes[0].degree,
                   [&]<int dim, int P>() -> std::unique_ptr<LineKernels<T>> {
                     return std::make_unique<LineKernelsOf<T, dim, P>>(factors);
                   });
}

Index line_kernel_bytes(const BoxMesh& mesh, int degree, Index value_bytes) {
  const Index square = power(degree + 1, 2);
  const Index pairs = (degree + 1) / 2;
  const Index even = degree + 1 - pairs;
  const Index lanes = static_cast<Index>(kSimdBytes) / value_bytes;
  Saturated values = Saturated(2 * (mesh.cells()[0] / lanes + 1)) * lanes * square;
  for (int d = 0; d < mesh.dimension(); ++d) {
    values += (Saturated(mesh.cells()[d]) * square + (even * even + pairs * pairs)) * 2;
  }
  return values * value_bytes;
}

template struct LineAxis<double>;
template struct LineAxis<float>;
template std::unique_ptr<LineKernels<double>> make_line_kernels(const KroneckerFactors&);
template std::unique_ptr<LineKernels<float>> make_line_kernels(const KroneckerFactors&);

}  // namespace tessera
