// This SUNLinearSolver solves the systems of Newton's iteration for KINSOL.
#pragma once

#include <sundials/sundials_linearsolver.h>

#include <new>

#include "solvers/sundials/sundials_handles.hpp"

namespace tessera {

/// Who solves with the Jacobian. Results are what callbacks return to SUNDIALS.
class KinsolLinearSolver {
 public:
  virtual ~KinsolLinearSolver() = default;
  /// Solves J x = b to ||b - J x|| <= tolerance.
  virtual int solve_linear(double tolerance, N_Vector b, N_Vector x) = 0;

 private:
  friend SundialsHandle<SUNLinearSolver> make_kinsol_linear_solver(KinsolLinearSolver&, SUNContext);

  // What KINSOL calls a preconditioner's setup is where the Jacobian gets its point.
  SUNPSetupFn set_up_ = nullptr;
  void* data_ = nullptr;
};

/// A SUNLinearSolver that calls `solver`.
inline SundialsHandle<SUNLinearSolver> make_kinsol_linear_solver(KinsolLinearSolver& solver,
                                                                 SUNContext context) {
  SUNLinearSolver made = SUNLinSolNewEmpty(context);
  if (made == nullptr) throw std::bad_alloc();
  made->content = &solver;
  static constexpr auto self = [](SUNLinearSolver linear_solver) {
    return static_cast<KinsolLinearSolver*>(linear_solver->content);
  };
  _generic_SUNLinearSolver_Ops& ops = *made->ops;
  ops.gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_ITERATIVE; };
  // Products with J and scales are not needed.
  ops.setatimes = [](SUNLinearSolver, void*, SUNATimesFn) -> int { return SUNLS_SUCCESS; };
  ops.setscalingvectors = [](SUNLinearSolver, N_Vector, N_Vector) -> int { return SUNLS_SUCCESS; };
  ops.setpreconditioner = [](SUNLinearSolver s, void* data, SUNPSetupFn set_up,
                             SUNPSolveFn) -> int {
    self(s)->set_up_ = set_up;
    self(s)->data_ = data;
    return SUNLS_SUCCESS;
  };
  ops.setup = [](SUNLinearSolver s, SUNMatrix) -> int {
    return self(s)->set_up_(self(s)->data_) == 0 ? SUNLS_SUCCESS : SUNLS_PSET_FAIL_UNREC;
  };
  ops.solve = [](SUNLinearSolver s, SUNMatrix, N_Vector x, N_Vector b, realtype tolerance) -> int {
    return self(s)->solve_linear(tolerance, b, x) == 0 ? SUNLS_SUCCESS : SUNLS_PACKAGE_FAIL_UNREC;
  };
  return SundialsHandle<SUNLinearSolver>(made);
}

}  // namespace tessera
