// This is the way to the kernel of a mass matrix of one degree and rule.
#pragma once

#include "operators/tensor/gpu/launch.cuh"

namespace tessera {

/// As find_tensor_kernel(), of a form with k = 0: it is given r_q, [cell][q], in args.reaction,
/// for FactorKind::constant args.reaction_scale. Defined in files made of instance.cu.in.
template <class T, int dim>
const TensorKernelInfo<T>* find_mass_kernel(int degree, int points, FactorKind kind);

}  // namespace tessera
