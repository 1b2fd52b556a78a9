// This function makes conjugate gradients on GPUs that share the vectors.
#pragma once

#include <memory>

#include "solvers/preconditioner.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// How a direction follows from those before: for one M, or for one that changes.
enum class Beta { fletcher_reeves, polak_ribiere };

/// As make_cg() and make_flexible_cg(), for ranks with a GPU each. It is a file of its own, as a
/// GPU loads the kernels of a file together. @throws DeviceError
template <class T>
std::unique_ptr<Solver<T, Device>> make_cg_on_ranks(const LinearOperator<T, Device>& a,
                                                    const Preconditioner<T, Device>* m, Beta beta);

}  // namespace tessera
