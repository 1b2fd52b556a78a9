// The stage solver is the SUNNonlinearSolver that solves the equation of an implicit stage.
#pragma once

#include <sundials/sundials_nonlinearsolver.h>

#include <new>

#include "solvers/sundials/sundials_handles.hpp"

namespace tessera {

/// Who solves the equation of an implicit stage.
class StageSolver {
 public:
  virtual ~StageSolver() = default;
  /// @param integrator the memory of ARKStep or CVODE
  /// @param x the correction of the predicted value, 0 at first
  /// @returns what callbacks return to SUNDIALS
  virtual int solve_stage(void* integrator, N_Vector x) = 0;
};

/// A SUNNonlinearSolver that calls `solver`. SUNDIALS' own Newton iteration would see F instead of
/// f, which costs a solve with M, and would only add passes over vectors where equations are
/// linear.
inline SundialsHandle<SUNNonlinearSolver> make_stage_solver(StageSolver& solver,
                                                            SUNContext context) {
  SUNNonlinearSolver made = SUNNonlinSolNewEmpty(context);
  if (made == nullptr) throw std::bad_alloc();
  made->content = &solver;
  made->ops->gettype = [](SUNNonlinearSolver) { return SUNNONLINEARSOLVER_ROOTFIND; };
  made->ops->setsysfn = [](SUNNonlinearSolver, SUNNonlinSolSysFn) -> int {
    return SUN_NLS_SUCCESS;
  };
  made->ops->solve = [](SUNNonlinearSolver self, N_Vector /*predicted*/, N_Vector x,
                        N_Vector /*weights*/, realtype /*tolerance*/, booleantype /*set_up*/,
                        void* integrator) -> int {
    switch (static_cast<StageSolver*>(self->content)->solve_stage(integrator, x)) {
      case 0:
        return SUN_NLS_SUCCESS;
      case 1:
        return SUN_NLS_CONV_RECVR;
      default:
        return SUN_NLS_EXT_FAIL;
    }
  };
  return SundialsHandle<SUNNonlinearSolver>(made);
}

}  // namespace tessera
