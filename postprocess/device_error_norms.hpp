// DeviceErrorNorms compute the numbers of a solution on the GPU.
#pragma once

#include <array>
#include <memory>

#include "mesh/saturated.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/device_program.hpp"
#include "postprocess/solution_norms.hpp"

namespace tessera {

/// The numbers of a solution on the GPU, of fields with has_program() and of coefficients that are
/// programs of u. Sums have the same bits in
/// every run on the same GPU model; they are the host's but for rounding. What is thrown is what
/// the host throws, which is asked for the first cell or node that the GPU finds wrong.
class DeviceErrorNorms final : public SolutionNorms {
 public:
  /// Copies u, the positions of a mapped mesh's nodes and 1D tables to the GPU, but what is there.
  /// Both must outlive this. @throws DeviceError
  /// @param u_on_gpu if given u is empty, and these are its values
  DeviceErrorNorms(const Discretization& discretization, HostVector<double>& u,
                   std::shared_ptr<const DeviceVector<double>> u_on_gpu = nullptr);
  ~DeviceErrorNorms() override;

  std::array<double, 2> extrema() const override;
  SolutionNumbers solution_numbers(const ScalarField& coefficient, double unit) const override;
  double integral(double unit) const override;
  MeanParts mean_parts(double unit) const override;
  MeanParts mean_parts(const ScalarField& field) const override;
  ErrorNorms error_norms(const ScalarField& exact, double unit) const override;
  double max_error(const ScalarField& exact, double unit) const override;
  void subtract(double constant) override;

 private:
  struct Data;  // in GPU memory

  HostVector<double>* u_;
  /// Taken off the GPU's copy of u where that is read.
  double subtracted_ = 0.0;
  std::unique_ptr<Data> data_;
};

/// What a block of DeviceErrorNorms keeps in shared memory at most: every GPU since Ampere has it.
inline constexpr Index kMaxNormsSharedBytes = Index{96} << 10;
/// Blocks of a launch of theirs.
inline constexpr Index kMaxNormsBlocks = 1024;
/// The most that the stacks of a deep program take, unless one block's take more.
inline constexpr Index kMaxNormsStackBytes = Index{256} << 20;

/// How DeviceErrorNorms work on cells: n nodes and m points an axis, several cells together.
struct NormsShape {
  static constexpr int kThreads = 128;
  // Of all tensors at points: fewer leave threads without a line when an axis is contracted.
  static constexpr int kMinValues = 8 * kThreads;
  static constexpr int kRows = 4;  // of a matrix at a time

  int dimension;
  int nodes;
  int fields;  // u, and the coordinates of mapped cells

  constexpr int points() const { return nodes - 1 + kExtraPoints; }
  constexpr int padded_rows() const { return static_cast<int>(ceil_div(points(), kRows)) * kRows; }
  constexpr Index points_per_cell() const { return power(points(), dimension); }
  /// So many that most threads of a block have work in every step.
  constexpr int cells_together() const {
    return static_cast<int>(ceil_div(kMinValues, fields * points_per_cell()));
  }
  /// B, padded with rows of zeros, D, points and weights.
  constexpr Index table_values() const {
    return Index{padded_rows()} * nodes + points() * (points() + 2);
  }
  /// Tensors at the points, and those on the way there.
  constexpr Index scratch_values() const {
    return cells_together() * fields * (points_per_cell() + power(points(), dimension - 1) * nodes);
  }
  constexpr bool fits_shared_memory() const {
    return (table_values() + scratch_values()) * Index{sizeof(double)} <= kMaxNormsSharedBytes;
  }
  /// Parts of the scratch in GPU memory, for blocks that work on so many cells.
  constexpr Index scratch_parts(Index cells) const {
    if (fits_shared_memory()) return 0;
    const Index groups = ceil_div(cells, cells_together());
    const Index most = scratch_blocks(scratch_values() * Index{sizeof(double)});
    return groups < most ? groups : most;
  }
};

/// Blocks that share the memory for the stacks of a program of this depth; a value with its
/// derivatives is four numbers.
constexpr Index norms_stack_block_bytes(int depth) {
  return Index{NormsShape::kThreads} * 4 * Index{sizeof(double)} * depth;
}
constexpr Index norms_stack_blocks(int depth) {
  const Index blocks = kMaxNormsStackBytes / norms_stack_block_bytes(depth);
  return blocks < 1 ? 1 : blocks < kMaxNormsBlocks ? blocks : kMaxNormsBlocks;
}

/// Bytes of GPU memory that DeviceErrorNorms take at most.
/// @param depth the largest of the programs of the fields, 0 for constants
inline Index device_error_norms_bytes(const BoxMesh& mesh, const NodeLattice& lattice,
                                      bool is_mapped, int depth) {
  const int dimension = mesh.dimension();
  const NormsShape shape{dimension, lattice.degree() + 1, is_mapped ? dimension + 1 : 1};
  Saturated values = Saturated(lattice.size()) * shape.fields;
  for (int d = 0; !is_mapped && d < dimension; ++d) {
    values += lattice.extents()[d] + 2 * mesh.cells()[d];
  }
  values += shape.scratch_parts(mesh.cell_count()) * shape.scratch_values();
  const bool is_deep = depth > DeviceProgram::kShallow;
  return values * sizeof(double) +
         (is_deep ? norms_stack_blocks(depth) * norms_stack_block_bytes(depth) : 0);
}

}  // namespace tessera
