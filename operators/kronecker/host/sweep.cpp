// This file cuts a sweep into bricks and tiles, and shares them among threads.
#include "operators/kronecker/host/sweep.hpp"

#include <omp.h>

#include <algorithm>

#include "mesh/lanes/host_array.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/streaming_store.hpp"
#include "operators/kronecker/host/result_writer.hpp"

namespace tessera {
namespace {

// Elements of a thread's scratch.
struct ScratchSizes {
  ScratchSizes(const SweepShape& shape, const IndexTriple& cells, int degree, Index value_bytes) {
    const Index p = degree;
    const Index lanes = static_cast<Index>(kSimdBytes) / value_bytes;
    const Index batches = cells[0] / lanes + 1;
    rows = brick_nodes(p);
    planes = shape.bricks[2] > 0 ? brick_nodes(p) : 1;
    row = rows * p;
    plane = planes * rows * p;
    const Index all_rows = planes * rows;
    x_carry = 2 * all_rows;
    y_carry = batches * planes * 4 * p;
    const Index tile_bricks = ceil_div(shape.bricks[1], shape.tiles[1]);
    z_carry = shape.bricks[2] > 0 ? tile_bricks * batches * 3 * row : 0;
    edge = rows * (lanes * p + 1);
    const Index results = value_bytes == sizeof(double)
                              ? ResultBuffers<double>::bytes(rows, planes, p)
                              : ResultBuffers<float>::bytes(rows, planes, p);
    bytes = Saturated(2 * row + 2 * plane + x_carry + y_carry + z_carry) *
                static_cast<Index>(kSimdBytes) +
            edge * value_bytes + results;
  }

  Index rows, planes;               // of nodes in a brick, ends included
  Index row, plane;                 // Lanes of a and b, of c and d
  Index x_carry, y_carry, z_carry;  // Lanes
  Index edge;                       // values
  Index bytes;                      // of all
};

}  // namespace

SweepShape::SweepShape(int dimension, const IndexTriple& cells, int degree, int threads)
    : bricks{1, 1, 0}, tiles{1, 1, 1}, brick_cells(tessera::brick_cells(degree)) {
  for (int d = 1; d < dimension; ++d) {
    bricks[d] = ceil_div(cells[d], brick_cells);
  }
  // The tiles that take the least time, each starting one cell early.
  const auto length = [&](int d, Index parts) {
    return ceil_div(bricks[d], parts) * brick_cells + (parts > 1 ? 1 : 0);
  };
  const auto time = [&](Index y, Index z) {
    return length(1, y) * std::max<Index>(length(2, z), 1);
  };
  for (Index z = 1; z <= std::max<Index>(bricks[2], 1); ++z) {
    const Index y = std::min<Index>(threads / z, bricks[1]);
    if (y > 0 && time(y, z) < time(tiles[1], tiles[2])) tiles = {1, y, z};
  }
}

template <class T>
struct KroneckerSweep<T>::Scratch {
  Scratch(const ScratchSizes& n, Index degree)
      : a(n.row),
        b(n.row),
        c(n.plane),
        d(n.plane),
        x_carry(n.x_carry),
        y_carry(n.y_carry),
        z_carry(n.z_carry),
        edge(n.edge),
        results(n.rows, n.planes, degree) {}

  HostArray<Lanes<T>> a, b, c, d, x_carry, y_carry, z_carry;
  HostArray<T> edge;
  ResultBuffers<T> results;
};

/// One thread's part of a sweep.
template <class T>
template <SweepResult result>
class KroneckerSweep<T>::Tile {
 public:
  Tile(const KroneckerSweep& sweep, const SweepVectors<T>& vectors, Scratch& scratch, Range y,
       Range z)
      : sweep_(sweep),
        vectors_(vectors),
        kernels_(*sweep.kernels_),
        scratch_(scratch),
        sizes_(sweep.shape_, sweep.cells_, sweep.lattice_.degree(), sizeof(T)),
        p_(sweep.lattice_.degree()),
        row_(sweep.lattice_.extents()[0]),
        batches_(line_batches<T>(sweep.cells_[0])),
        y_(y),
        z_(z),
        writer_(vectors, sweep.lattice_, sweep.cells_[0], sweep.dirichlet_, kernels_,
                scratch.results) {}

  void run() {
    if (sweep_.lattice_.dimension() == 2) {
      sweep_layer({0, 0}, Emit::yes);
    } else {
      const Index first = z_.begin * sweep_.shape_.brick_cells;
      sweep_layer(start(first), Emit::no);
      if (first > 0) sweep_layer({first - 1, first}, Emit::no);
      for (Index brick = z_.begin; brick < z_.end; ++brick) {
        sweep_layer(brick_range(2, brick), Emit::yes);
      }
    }
    finish_streaming();
  }

 private:
  enum class Emit { no, yes };

  // No cells: only the nodes at the lower end of the cell before `first`, where carries start.
  static Range start(Index first) {
    const Index cell = std::max<Index>(first - 1, 0);
    return {cell, cell};
  }
  Range brick_range(int d, Index brick) const {
    const Index cells = sweep_.shape_.brick_cells;
    return {brick * cells, std::min((brick + 1) * cells, sweep_.cells_[d])};
  }
  // Nodes that a range of cells adds to those before it, as {first, end}.
  Range new_nodes(Range cells) const {
    return cells.size() == 0 ? Range{cells.begin * p_, cells.begin * p_ + 1}
                             : Range{cells.begin * p_ + 1, cells.end * p_ + 1};
  }
  // Nodes whose results are complete after a range of cells.
  Index complete_nodes(int d, Range cells) const {
    return cells.size() == 0 ? 0 : cells.size() * p_ + (cells.end == sweep_.cells_[d] ? 1 : 0);
  }
  bool are_constrained(int d, Index node) const {
    return is_constrained(sweep_.lattice_, sweep_.dirichlet_, d, node);
  }
  Index node(Index row, Index plane) const { return sweep_.lattice_.nodes().index(0, row, plane); }

  // The cells of z in all rows of bricks of the tile.
  void sweep_layer(Range z, Emit emit) {
    const Index first = y_.begin * sweep_.shape_.brick_cells;
    sweep_brick_row(start(first), z, -1, Emit::no);
    if (first > 0) sweep_brick_row({first - 1, first}, z, -1, Emit::no);
    for (Index brick = y_.begin; brick < y_.end; ++brick) {
      sweep_brick_row(brick_range(1, brick), z, brick, emit);
    }
  }

  // One row of bricks; brick = -1 where only what is carried along y matters.
  void sweep_brick_row(Range y, Range z, Index brick, Emit emit) {
    const bool flat = sweep_.lattice_.dimension() == 2;
    const Range new_rows = new_nodes(y);
    const Range new_planes = new_nodes(z);
    const Index rows = complete_nodes(1, y);
    const Index planes = emit == Emit::no ? 0 : flat ? 1 : complete_nodes(2, z);
    const Index first_written = y.begin * p_;
    const Index first_plane = z.size() == 0 ? 0 : 1;
    const Index first_row = y.size() == 0 ? 0 : 1;
    LaneSums sums;
    std::fill(scratch_.x_carry.begin(), scratch_.x_carry.end(), Lanes<T>{});
    const Index plane = sizes_.row;
    for (Index batch = 0; batch < batches_; ++batch) {
      for (Index k = 0; k < new_planes.size(); ++k) {
        x_rows(batch, k, new_rows, new_planes.begin + k, first_row);
        if (batch == 0 && k < planes) writer_.ask_for_ends({first_written, rows, z.begin * p_ + k});
        kernels_.y_lines(
            y.begin, y.size(), scratch_.y_carry.data() + (batch * sizes_.planes + k) * 4 * p_,
            scratch_.a.data(), scratch_.b.data(), scratch_.c.data() + (first_plane + k) * plane,
            scratch_.d.data() + (first_plane + k) * plane);
      }
      if (brick < 0) continue;
      if (!flat) {
        Lanes<T>* carry =
            scratch_.z_carry.data() + ((brick - y_.begin) * batches_ + batch) * 3 * sizes_.row;
        kernels_.z_lines(z.begin, z.size(), rows * p_, carry, scratch_.c.data(), scratch_.d.data());
      }
      for (Index k = 0; k < planes; ++k) {
        writer_.write(batch, k, {first_written, rows, z.begin * p_ + k},
                      scratch_.c.data() + k * plane, sums);
      }
    }
    if (planes == 0) return;
    SweepSums& sum =
        sweep_.partial_[(flat ? 0 : z.begin / sweep_.shape_.brick_cells) * sweep_.shape_.bricks[1] +
                        brick];
    sum = {};
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      sum.first += sums.first[lane];
      sum.second += sums.second[lane];
    }
  }

  // a and b of the rows of a plane, which has this local number k.
  void x_rows(Index batch, Index k, Range rows, Index plane, Index first_row) {
    Lanes<T>* a = scratch_.a.data() + first_row * p_;
    Lanes<T>* b = scratch_.b.data() + first_row * p_;
    const Index n = rows.size() * p_;
    if (sweep_.lattice_.dimension() == 3 && are_constrained(2, plane)) {
      std::fill_n(a, n, Lanes<T>{});
      std::fill_n(b, n, Lanes<T>{});
      return;
    }
    const Index first = node(rows.begin, plane) + batch * kLanes<T> * p_;
    const T* u = vectors_.x + first;
    Index stride = row_;
    const Index width = kLanes<T> * p_ + 1;
    if (first + (rows.size() - 1) * row_ + width > sweep_.lattice_.size()) {
      copy_end(rows.size(), first);
      u = scratch_.edge.data();
      stride = width;
    }
    kernels_.x_rows(batch, rows.size(), u, stride, scratch_.x_carry.data() + k * 2 * sizes_.rows, a,
                    b);
    for (const Index row : {rows.begin, rows.end - 1}) {
      if (!are_constrained(1, row)) continue;
      std::fill_n(a + (row - rows.begin) * p_, p_, Lanes<T>{});
      std::fill_n(b + (row - rows.begin) * p_, p_, Lanes<T>{});
    }
  }

  // What a batch reads of the last rows of x, with zeros beyond its end, rows without gaps.
  void copy_end(Index rows, Index first) const {
    const Index width = kLanes<T> * p_ + 1;
    for (Index j = 0; j < rows; ++j) {
      const Index begin = first + j * row_;
      const Index n = std::clamp<Index>(sweep_.lattice_.size() - begin, 0, width);
      T* const end = std::copy_n(vectors_.x + begin, n, scratch_.edge.data() + j * width);
      std::fill_n(end, width - n, T{0});
    }
  }

  const KroneckerSweep& sweep_;
  const SweepVectors<T>& vectors_;
  const LineKernels<T>& kernels_;
  Scratch& scratch_;
  ScratchSizes sizes_;
  Index p_;
  Index row_;
  Index batches_;
  Range y_;  // bricks
  Range z_;
  ResultWriter<T, result> writer_;
};

template <class T>
KroneckerSweep<T>::KroneckerSweep(const KroneckerFactors& factors, const NodeLattice& lattice,
                                  FaceSet dirichlet)
    : lattice_(lattice),
      cells_{factors.axes[0].cells, factors.axes[1].cells,
             factors.dimension == 3 ? factors.axes[2].cells : 0},
      dirichlet_(dirichlet),
      shape_(factors.dimension, cells_, lattice.degree(), omp_get_max_threads()),
      kernels_(make_line_kernels<T>(factors)),
      scratch_(static_cast<std::size_t>(shape_.tiles[1] * shape_.tiles[2])),
      partial_(static_cast<std::size_t>(shape_.bricks[1] * std::max<Index>(shape_.bricks[2], 1))) {
  const ScratchSizes sizes(shape_, cells_, lattice.degree(), sizeof(T));
  for (auto& scratch : scratch_) {
    scratch = std::make_unique<Scratch>(sizes, lattice.degree());
  }
}

template <class T>
KroneckerSweep<T>::~KroneckerSweep() = default;

template <class T>
template <SweepResult result>
void KroneckerSweep<T>::run_tiles(const SweepVectors<T>& vectors) const {
  const auto tiles = static_cast<int>(scratch_.size());
#pragma omp parallel for schedule(static) num_threads(std::min(tiles, omp_get_max_threads()))
  for (int tile = 0; tile < tiles; ++tile) {
    const Range y = partition(shape_.bricks[1], tile % shape_.tiles[1], shape_.tiles[1]);
    const Range z = partition(shape_.bricks[2], tile / shape_.tiles[1], shape_.tiles[2]);
    Tile<result>(*this, vectors, *scratch_[tile], y, z).run();
  }
}

template <class T>
SweepSums KroneckerSweep<T>::run(SweepResult result, const SweepVectors<T>& vectors) const {
  if (result == SweepResult::apply) run_tiles<SweepResult::apply>(vectors);
  if (result == SweepResult::apply_dot) run_tiles<SweepResult::apply_dot>(vectors);
  if (result == SweepResult::residual) run_tiles<SweepResult::residual>(vectors);
  SweepSums sum;
  for (const SweepSums& value : partial_) {
    sum.first += value.first;
    sum.second += value.second;
  }
  return sum;
}

template <class T>
Index KroneckerSweep<T>::bytes() const {
  const ScratchSizes sizes(shape_, cells_, lattice_.degree(), sizeof(T));
  return kernels_->bytes() + static_cast<Index>(scratch_.size()) * sizes.bytes +
         static_cast<Index>(partial_.size() * sizeof(SweepSums));
}

Index kronecker_sweep_bytes(const BoxMesh& mesh, int degree, Index value_bytes) {
  IndexTriple cells = mesh.cells();
  if (mesh.dimension() == 2) cells[2] = 0;
  const SweepShape shape(mesh.dimension(), cells, degree, omp_get_max_threads());
  const ScratchSizes sizes(shape, cells, degree, value_bytes);
  return Saturated(sizes.bytes) * shape.tiles[1] * shape.tiles[2] +
         line_kernel_bytes(mesh, degree, value_bytes) +
         Saturated(shape.bricks[1]) * std::max<Index>(shape.bricks[2], 1) * sizeof(SweepSums);
}

template class KroneckerSweep<double>;
template class KroneckerSweep<float>;

}  // namespace tessera
