// This file has the steps of the host.
#include "src/solve/nonlinear/nonlinear_steps_maker.hpp"

namespace tessera {

template class NonlinearSteps<Host>;

}  // namespace tessera
