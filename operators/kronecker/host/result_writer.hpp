// A ResultWriter brings a batch's results from nodes by cells to where A x belongs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mesh/face.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/partition.hpp"
#include "operators/kronecker/host/lines.hpp"
#include "operators/kronecker/host/result_sink.hpp"

namespace tessera {

/// What is kept of each row of a brick from one batch to the next, as a batch's values end anywhere
/// in a cache line of the vector.
template <class T>
struct ResultBuffers {
  /// Values that a cache line has before its last SIMD vector: none where that is all of it.
  static constexpr Index kUnfinished = kLineValues<T> - kLanes<T>;
  /// Values that a row of a batch has in whole cache lines.
  static constexpr Index row_values(Index degree) {
    return ceil_div(kLineValues<T> + kLanes<T> * degree, kLineValues<T>) * kLineValues<T>;
  }
  static constexpr Index bytes(Index rows, Index planes, Index degree) {
    return rows * (planes * (kLanes<T> + kUnfinished) + row_values(degree)) *
           static_cast<Index>(sizeof(T));
  }

  ResultBuffers(Index row_count, Index planes, Index degree)
      : rows(row_count),
        last(planes * rows),
        unfinished(planes * rows * kUnfinished),
        values(rows * row_values(degree)) {}

  Index rows;
  HostArray<Lanes<T>> last;  // [plane][row], the batch's last vector of nodes
  HostArray<T> unfinished;   // [plane][row], SIMD vectors of a cache line that is not full
  HostArray<T> values;       // [row], those of one plane on their way
};

/// Neighboring rows of nodes of a plane.
struct RowsOfPlane {
  Index first;
  Index count;
  Index plane;
};

/// Whether the nodes of this number along axis d are constrained.
inline bool is_constrained(const NodeLattice& lattice, FaceSet dirichlet, int d, Index node) {
  return (dirichlet[2 * d] && node == 0) ||
         (dirichlet[2 * d + 1] && node == lattice.extents()[d] - 1);
}

/// Results go to memory as they are made, one cache line after the other: they are turned in
/// registers until they lie in a SIMD vector as in the vector of nodes. Cache lines that two rows
/// have in common are written value by value, as another thread may have the other row.
template <class T, SweepResult result>
class ResultWriter {
 public:
  ResultWriter(const SweepVectors<T>& vectors, const NodeLattice& lattice, Index cells,
               FaceSet dirichlet, const LineKernels<T>& kernels, ResultBuffers<T>& buffers)
      : vectors_(vectors),
        lattice_(lattice),
        dirichlet_(dirichlet),
        kernels_(kernels),
        buffers_(buffers),
        sink_(vectors),
        in_line_(static_cast<Index>(reinterpret_cast<std::uintptr_t>(vectors.y) / sizeof(T) %
                                    kLineValues<T>)),
        cells_(cells),
        row_(lattice.extents()[0]),
        width_(kLanes<T> * lattice.degree()),
        batches_(line_batches<T>(cells)) {}

  /// Asks for the cache lines that rows have in common, which are read before they are written.
  void ask_for_ends(const RowsOfPlane& rows) const {
    const T* const y = vectors_.y + first_node(rows);
    for (Index j = 0; j <= rows.count; ++j) __builtin_prefetch(y + j * row_, 1, 2);
  }

  /// Takes a batch's results [row][p] of a plane, which has the local number k. A row's batches
  /// come one after another.
  void write(Index batch, Index k, const RowsOfPlane& rows, Lanes<T>* results, LaneSums& sums) {
    const Index first = first_node(rows) + batch * width_;
    const RowsInLines<T> to{buffers_.values.data(), buffers_.row_values(lattice_.degree()),
                            buffers_.last.data() + k * buffers_.rows, in_line_ + first, row_};
    if (batch == 0) set_end(0, 0, rows, results);
    if (batch == batches_ - 1) set_end(1, cells_ % kLanes<T>, rows, results);
    if constexpr (kHasParts) restore(k, rows.count, to);
    kernels_.write_rows(rows.count, results, to);
    if (batch == batches_ - 1) write_last(rows.count, to);
    set_constrained_rows(batch, first, rows, to);
    if (batch == batches_ - 1 || batch * width_ < kLineValues<T>) {
      finish_at_end(batch, k, first, rows.count, to, sums);
    } else {
      finish(k, first, rows.count, to, sums);
    }
  }

 private:
  static constexpr Index kUnfinished = ResultBuffers<T>::kUnfinished;
  static constexpr bool kHasParts = kUnfinished > 0;

  Index first_node(const RowsOfPlane& rows) const {
    return lattice_.nodes().index(0, rows.first, rows.plane);
  }
  Index values(Index batch) const { return std::min(row_ - batch * width_, width_); }
  T* unfinished(Index k, Index j) const {
    return buffers_.unfinished.data() + (k * buffers_.rows + j) * kUnfinished;
  }

  // y = x at a constrained end of the rows, which is node 0 of the cell in this lane.
  void set_end(int side, Index lane, const RowsOfPlane& rows, Lanes<T>* results) const {
    if (!dirichlet_[side]) return;
    const T* const x = vectors_.x + first_node(rows) + (side == 0 ? 0 : row_ - 1);
    const auto at = lane_numbers<T>() == broadcast(static_cast<T>(lane));
    for (Index j = 0; j < rows.count; ++j) {
      Lanes<T>& nodes = results[j * lattice_.degree()];
      nodes = at ? broadcast(x[j * row_]) : nodes;
    }
  }

  // What fills no SIMD vector at the rows' ends.
  void write_last(Index rows, const RowsInLines<T>& to) const {
    for (Index j = 0; j < rows; ++j) {
      const Index shift = to.place(j) % kLanes<T>;
      store_lanes<T>(LaneShift<T>(shift)(to.last[j], Lanes<T>{}),
                     to.line(j) + to.place(j) - shift + width_);
    }
  }

  // y = x in constrained rows, of which this batch's values begin at node `first`.
  void set_constrained_rows(Index batch, Index first, const RowsOfPlane& rows,
                            const RowsInLines<T>& to) const {
    const auto set = [&](Index j) {
      const Index before = std::min(to.place(j), batch * width_);
      std::copy_n(vectors_.x + first + j * row_ - before, before + values(batch),
                  to.line(j) + to.place(j) - before);
    };
    const auto are_constrained = [&](int d, Index node) {
      return is_constrained(lattice_, dirichlet_, d, node);
    };
    if (lattice_.dimension() == 3 && are_constrained(2, rows.plane)) {
      for (Index j = 0; j < rows.count; ++j) set(j);
      return;
    }
    if (are_constrained(1, rows.first)) set(0);
    if (are_constrained(1, rows.first + rows.count - 1)) set(rows.count - 1);
  }

  // Vectors of a cache line that was not full.
  void restore(Index k, Index rows, const RowsInLines<T>& to) const {
    for (Index j = 0; j < rows; ++j) {
      for (Index i = 0; i + kLanes<T> <= to.place(j); i += kLanes<T>) {
        store_lanes<T>(load_lanes(unfinished(k, j) + i), to.line(j) + i);
      }
    }
  }
  void keep(Index k, Index j, const T* line) const {
    for (Index i = 0; i < kUnfinished; i += kLanes<T>) {
      store_lanes<T>(load_lanes(line + i), unfinished(k, j) + i);
    }
  }

  // Gives the cache lines away that are full.
  void finish(Index k, Index first, Index rows, RowsInLines<T> from, LaneSums& sums) const {
    const ResultSink<T, result> sink = sink_;
    const Index row = row_;
    const Index width = width_;
    for (Index j = 0; j < rows; ++j) {
      const Index place = from.place(j);
      const Index lines = (kHasParts ? place + width : width) / kLineValues<T>;
      const Index node = first + j * row - place;
      T* const values = from.line(j);
      for (Index i = 0; i < lines; ++i) {
        sink.line(node + i * kLineValues<T>, values + i * kLineValues<T>, sums);
      }
      if constexpr (kHasParts) keep(k, j, values + lines * kLineValues<T>);
    }
  }

  // The same in a batch whose first or last cache lines other rows have as well.
  void finish_at_end(Index batch, Index k, Index first, Index rows, const RowsInLines<T>& from,
                     LaneSums& sums) const {
    for (Index j = 0; j < rows; ++j) {
      const Index place = from.place(j);
      const Index begin = std::max<Index>(place - batch * width_, 0);
      const Index end = place + values(batch);
      const Index lines = end / kLineValues<T>;
      const Index node = first + j * row_ - place;
      T* const values = from.line(j);
      if (begin > 0 && lines > 0) {
        sink_.part_of_line(node, values, begin, kLineValues<T>, sums);
      }
      for (Index i = begin > 0 ? 1 : 0; i < lines; ++i) {
        sink_.line(node + i * kLineValues<T>, values + i * kLineValues<T>, sums);
      }
      T* const rest = values + lines * kLineValues<T>;
      if (batch == batches_ - 1) {
        sink_.part_of_line(node + lines * kLineValues<T>, rest, lines == 0 ? begin : 0,
                           end % kLineValues<T>, sums);
      } else if constexpr (kHasParts) {
        keep(k, j, rest);
      }
    }
  }

  SweepVectors<T> vectors_;
  const NodeLattice& lattice_;
  FaceSet dirichlet_;
  const LineKernels<T>& kernels_;
  ResultBuffers<T>& buffers_;
  ResultSink<T, result> sink_;
  Index in_line_;  // place of y in a cache line
  Index cells_;    // along x
  Index row_;      // nodes
  Index width_;    // nodes of a batch
  Index batches_;
};

}  // namespace tessera
