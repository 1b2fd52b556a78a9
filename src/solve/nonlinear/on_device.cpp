// This file has what non-linear cases are solved with in GPU memory.
#include "src/solve/nonlinear/linearization_maker.hpp"
#include "src/solve/nonlinear/nonlinear_steps_maker.hpp"
#include "src/solve/nonlinear/stationary_system_maker.hpp"

namespace tessera {

template class Linearization<Device>;
template class StationarySystem<Device>;
template class NonlinearSteps<Device>;

}  // namespace tessera
