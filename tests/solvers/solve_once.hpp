// These functions make a solver and solve one system with it.
#pragma once

#include <type_traits>

#include "solvers/krylov/methods.hpp"

namespace tessera::testing {

/// The method's solver for A x = b, used once. @param omega of Richardson's iteration
template <class T, class Space>
SolveReport solve_by(SolverMethod method, const LinearOperator<T, Space>& a,
                     const Preconditioner<T, Space>* m, const Vector<T, Space>& b,
                     Vector<T, Space>& x, const SolveOptions& options, double omega = 1.0) {
  return make_solver(method, a, m, omega)->solve(b, x, options);
}

template <class T, class Space>
using PreconditionerOf = std::type_identity_t<Preconditioner<T, Space>>;

template <class T, class Space>
SolveReport cg(const LinearOperator<T, Space>& a, const PreconditionerOf<T, Space>* m,
               const Vector<T, Space>& b, Vector<T, Space>& x, const SolveOptions& options) {
  return solve_by<T, Space>(SolverMethod::cg, a, m, b, x, options);
}
template <class T, class Space>
SolveReport flexible_cg(const LinearOperator<T, Space>& a, const PreconditionerOf<T, Space>* m,
                        const Vector<T, Space>& b, Vector<T, Space>& x,
                        const SolveOptions& options) {
  return solve_by<T, Space>(SolverMethod::flexible_cg, a, m, b, x, options);
}
template <class T, class Space>
SolveReport single_reduction_cg(const LinearOperator<T, Space>& a,
                                const PreconditionerOf<T, Space>* m, const Vector<T, Space>& b,
                                Vector<T, Space>& x, const SolveOptions& options) {
  return solve_by<T, Space>(SolverMethod::single_reduction_cg, a, m, b, x, options);
}
template <class T, class Space>
SolveReport pipelined_cg(const LinearOperator<T, Space>& a, const PreconditionerOf<T, Space>* m,
                         const Vector<T, Space>& b, Vector<T, Space>& x,
                         const SolveOptions& options) {
  return solve_by<T, Space>(SolverMethod::pipelined_cg, a, m, b, x, options);
}
template <class T, class Space>
SolveReport richardson(const LinearOperator<T, Space>& a, const PreconditionerOf<T, Space>* m,
                       const Vector<T, Space>& b, Vector<T, Space>& x, double omega,
                       const SolveOptions& options) {
  return solve_by<T, Space>(SolverMethod::richardson, a, m, b, x, options, omega);
}

}  // namespace tessera::testing
