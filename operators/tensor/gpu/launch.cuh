// A TensorKernelInfo describes one unrolled tensor kernel and launches it.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "mesh/geometry/factor_kind.hpp"
#include "operators/tensor/gpu/arguments.cuh"

namespace tessera {

/// A tensor kernel whose loops are unrolled for one degree and rule.
template <class T>
struct TensorKernelInfo {
  int threads_per_cell;
  Index shared_bytes_per_cell;
  /// Must be called once before launches: asks for `bytes` of shared memory a block.
  void (*allow_shared_memory)(Index bytes);
  /// Launches bricks of args.brick cells; asynchronous.
  void (*launch)(const TensorArguments<T>& args, const Basis1D& basis);
};

/// The kernel for this degree, number of points and kind of factors; null where there is none.
/// `points` do not matter for FactorKind::constant. Defined in files made of
/// instance.cu.in.
template <class T, int dim>
const TensorKernelInfo<T>* find_tensor_kernel(int degree, int points, FactorKind kind);

}  // namespace tessera
