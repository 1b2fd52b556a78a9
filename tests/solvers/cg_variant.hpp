// These are the variants of CG by name, for tests that go through all.
#pragma once

#include <stdexcept>

#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/pipelined_cg.hpp"
#include "solvers/krylov/single_reduction_cg.hpp"

namespace tessera::testing {

/// Forms of CG: the same iterates but for rounding.
enum class CgVariant { standard, single_reduction, pipelined, flexible };

/// cg(), single_reduction_cg(), pipelined_cg() or flexible_cg(), on host or GPU.
/// @throws DeviceError
template <class T, class Space>
SolveReport solve_by_cg(CgVariant variant, const LinearOperator<T, Space>& a,
                        const Preconditioner<T, Space>* preconditioner, const Vector<T, Space>& b,
                        Vector<T, Space>& x, const CgOptions& options) {
  switch (variant) {
    case CgVariant::standard:
      return cg(a, preconditioner, b, x, options);
    case CgVariant::single_reduction:
      return single_reduction_cg(a, preconditioner, b, x, options);
    case CgVariant::pipelined:
      return pipelined_cg(a, preconditioner, b, x, options);
    case CgVariant::flexible:
      return flexible_cg(a, preconditioner, b, x, options);
  }
  throw std::logic_error("a variant without a solver");
}

}  // namespace tessera::testing
