// FastDiagonalization is the inverse of the separable operator nearest to a form.
#pragma once

#include <array>
#include <memory>

#include "operators/fast_diagonalization/axis_modes.hpp"
#include "operators/fast_diagonalization/nearest_separable.hpp"
#include "operators/form/updatable.hpp"
#include "solvers/execution.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// z = B^-1 r with B the separable operator nearest to a form's (nearest_separable.hpp), by fast
/// diagonalization: with K v = lambda M v along each axis and V^T M V = 1,
///   B^-1 = (V x V x V) (L x 1 x 1 + 1 x L x 1 + 1 x 1 x L)^-1 (V x V x V)^T
/// on free nodes, z = r on constrained ones. Where no face is constrained and none has a Robin
/// term, the constant, whose sum of eigenvalues is 0, is left out: B^-1 is then positive
/// semidefinite.
///
/// Of separable operators another number for reaction is taken in place.
///
/// apply() is deterministic, does not depend on what z held, and is not to be called by two threads
/// at a time: they would share scratch.
template <class T, class Space>
class FastDiagonalization : public Preconditioner<T, Space>, public Updatable {
 public:
  /// Whether it is the inverse of the form's operator, up to rounding.
  virtual Exactness exactness() const = 0;
  /// Least and largest sum of eigenvalues, without that of the constant that is left out.
  virtual std::array<double, 2> eigenvalue_range() const = 0;
  /// Memory held, scratch included.
  virtual std::int64_t bytes() const = 0;
};

/// On the host: matrix products of Eigen on blocks that stay in a core's cache, z as scratch. On
/// the GPU: matrix products by tiles, two vectors of scratch; apply() only queues work and can be
/// captured into a CUDA graph once it has run outside of one.
/// @throws as make_nearest_separable(), std::bad_alloc, DeviceOutOfMemory, DeviceError
template <class T, class Space = Host>
std::unique_ptr<FastDiagonalization<T, Space>> make_fast_diagonalization(const BilinearForm& form);

/// What bytes() of one will be: on the host with the present number of OpenMP threads. The modes
/// are made on the host in any case, which takes more meanwhile (axis_work() of axis_modes.hpp).
/// @param symmetry of the axes
Index fast_diagonalization_bytes(const NodeLattice& lattice, FaceSet dirichlet,
                                 const std::array<AxisSymmetry, 3>& symmetry, Index value_bytes,
                                 Processor processor);

}  // namespace tessera
