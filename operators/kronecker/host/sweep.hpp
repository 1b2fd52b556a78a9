// A KroneckerSweep computes A x on the host, one row of bricks after another.
#pragma once

#include <memory>
#include <vector>

#include "mesh/face.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/partition.hpp"
#include "operators/kronecker/host/lines.hpp"
#include "operators/kronecker/host/result_sink.hpp"

namespace tessera {

/// Two sums over all nodes.
struct SweepSums {
  double first = 0.0;
  double second = 0.0;
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

  /// A x goes where `result` says, on all threads, with identity rows on Dirichlet faces; returns
  /// the sums, the same bits for any number of threads and vectors at the same places in cache
  /// lines.
  SweepSums run(SweepResult result, const SweepVectors<T>& vectors) const;

  /// r of the factors.
  void set_reaction(double reaction) { kernels_->set_reaction(reaction); }

  Index bytes() const;
  double flops() const { return kernels_->flops(); }

 private:
  struct Scratch;
  template <SweepResult result>
  class Tile;
  template <SweepResult result>
  void run_tiles(const SweepVectors<T>& vectors) const;

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
