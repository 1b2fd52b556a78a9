// This file has the systems of the host.
#include "src/solve/nonlinear/stationary_system_maker.hpp"

namespace tessera {

template class StationarySystem<Host>;

}  // namespace tessera
