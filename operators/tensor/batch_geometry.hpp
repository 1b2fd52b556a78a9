// A BatchGeometry computes geometric factors in every application on the host.
#pragma once

#include <memory>

#include "mesh/geometry/factor_kind.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// D_q = w_q k |J| J^-1 J^-T and r_q = w_q |J| c of a batch of cells of a mapped mesh, computed
/// from the positions of its nodes: FactorStorage::on_the_fly.
///
/// Coordinate x_a of the nodes goes the way of u in TensorKernel: [n]^d -> x_a at the points [m]^d
/// -> J[a][.] [d][m]^d, always in double precision; D_q is rounded to T.
template <class T>
class BatchGeometry {
 public:
  virtual ~BatchGeometry() = default;

  /// Whether there is an r_q.
  virtual ReactionKind reaction() const = 0;
  /// Lanes<T> values that evaluate() needs as scratch.
  virtual Index scratch_size() const = 0;
  /// Writes the factors as GeometricFactors<T>::batch() has them: [q][entry][lane], then r_q.
  virtual void evaluate(const CellBatch& batch, Lanes<T>* scratch, Lanes<T>* factors) const = 0;
  virtual double flops_per_cell() const = 0;
  /// Held: k and c at the points, where they vary.
  virtual Index bytes() const = 0;
  /// Read in one pass over all batches: that and the positions once.
  virtual Index streamed_bytes() const = 0;
};

/// The geometry of a form with a mapped mesh whose degree and rule have a kernel in
/// has_fast_tensor_kernel(); the form's discretization must outlive it.
/// @param batches of kLanes<T> cells, those of evaluate()
/// @throws std::invalid_argument for another size or mesh; InvertedCell, BadFieldValue as
///         GeometricFactors
template <class T>
std::unique_ptr<const BatchGeometry<T>> make_batch_geometry(const BilinearForm& form,
                                                            const CellBatches& batches);

}  // namespace tessera
