// These handles own objects of SUNDIALS.
#pragma once

#include <arkode/arkode_arkstep.h>
#include <cvode/cvode.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

#include <memory>
#include <new>
#include <type_traits>

namespace tessera {

struct SundialsDeleter {
  void operator()(SUNContext context) const { SUNContext_Free(&context); }
  void operator()(N_Vector vector) const { N_VDestroy(vector); }
  void operator()(SUNNonlinearSolver solver) const { SUNNonlinSolFreeEmpty(solver); }
  void operator()(SUNLinearSolver solver) const { SUNLinSolFreeEmpty(solver); }
  void operator()(ARKodeButcherTable table) const { ARKodeButcherTable_Free(table); }
};

/// Owns a SUNContext, N_Vector, SUNNonlinearSolver or SUNLinearSolver (ones without content of
/// their own) or ARKodeButcherTable.
template <class Pointer>
using SundialsHandle = std::unique_ptr<std::remove_pointer_t<Pointer>, SundialsDeleter>;

struct ArkodeDeleter {
  void operator()(void* memory) const { ARKStepFree(&memory); }
};
struct CvodeDeleter {
  void operator()(void* memory) const { CVodeFree(&memory); }
};

inline SundialsHandle<SUNContext> make_sundials_context() {
  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0) throw std::bad_alloc();
  return SundialsHandle<SUNContext>(context);
}

/// The messages of SUNDIALS are not for users: what its functions return is turned into errors.
inline void ignore_message(int /*code*/, const char* /*module*/, const char* /*function*/,
                           char* /*message*/, void* /*data*/) {}

}  // namespace tessera
