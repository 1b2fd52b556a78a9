// A KroneckerSweep computes A x on the host, one row of bricks after another.
#pragma once

#include <memory>
#include <vector>

#include "mesh/face.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/partition.hpp"
#include "operators/kronecker/lines.hpp"

namespace tessera {

/// `rows` rows of nodes of one plane, one after another in memory from node `first` on.
struct RowSpan {
  Index row;
  Index plane;
  Index rows;
  Index first;
  Index size;
};

/// Two sums over all nodes.
struct SweepSums {
  double first = 0.0;
  double second = 0.0;

  SweepSums& operator+=(const SweepSums& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

/// What a sweep works on: x, and where A x goes.
template <class T>
class SweepData {
 public:
  virtual ~SweepData() = default;

  virtual const T* x() const = 0;
  /// Takes A x of the span and may change it there; ax lies in a SIMD vector as node span.first
  /// does in a vector. Returns the span's share of the sweep's sums.
  virtual SweepSums finish(const RowSpan& span, const T* x, T* ax) const = 0;
};

/// How the cells are cut into bricks, and these shared out in tiles.
struct SweepShape {
  SweepShape(int dimension, const IndexTriple& cells, int degree, int threads);

  IndexTriple bricks;  // number along each axis; 1 along x, 0 along z in 2D
  IndexTriple tiles;   // number along each axis
  Index brick_cells;   // along y and z
};

/// A x, brick row after brick row: y and z are cut into bricks of a few cells, and a row of bricks
/// along x is done batch by batch in the L1 cache:
///
///     x rows -> a, b;  y lines -> c, d;  z lines -> A x;  nodes by cells -> rows
///
/// Every product reads each value once, as what a line adds to the next brick is carried along:
/// x in a vector, y in a row of values, z in a plane (L2 or L3 cache). Tiles start one cell early
/// instead. So x is read from memory once and A x is given away once, a row of bricks at a time.
template <class T>
class KroneckerSweep {
 public:
  KroneckerSweep(const KroneckerFactors& factors, const NodeLattice& lattice, FaceSet dirichlet);
  ~KroneckerSweep();

  /// Calls data.finish() once for every node, on all threads, with identity rows on Dirichlet
  /// faces; returns the sums of what it returns, the same bits for any number of threads.
  SweepSums run(const SweepData<T>& data) const;

  /// r of the factors.
  void set_reaction(double reaction) { kernels_->set_reaction(reaction); }

  Index bytes() const;
  double flops() const { return kernels_->flops(); }

 private:
  struct Scratch;
  class Tile;

  NodeLattice lattice_;
  IndexTriple cells_;
  FaceSet dirichlet_;
  SweepShape shape_;
  std::unique_ptr<LineKernels<T>> kernels_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  mutable std::vector<SweepSums> partial_;  // [brick z][brick y]
};

/// Bytes of a sweep.
Index kronecker_sweep_bytes(const BoxMesh& mesh, int degree, Index value_bytes);

}  // namespace tessera
