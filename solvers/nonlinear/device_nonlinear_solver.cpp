// This file has the non-linear solves of the GPU.
#include "solvers/nonlinear/nonlinear_solver_maker.hpp"

namespace tessera {

template NonlinearReport solve_nonlinear(NonlinearSystem<Device>&, const NonlinearOptions&,
                                         DeviceVector<double>&);

}  // namespace tessera
