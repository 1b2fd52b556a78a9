// This file has the integrators of the GPU.
#include "solvers/time/time_integrator_maker.hpp"

namespace tessera {

template std::unique_ptr<TimeIntegrator<Device>> make_time_integrator(TimeSystem<Device>&,
                                                                      const TimeOptions&,
                                                                      DeviceVector<double>&);

}  // namespace tessera
