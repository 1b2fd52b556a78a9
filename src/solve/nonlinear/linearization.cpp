// This file has the linearizations of the host.
#include "src/solve/nonlinear/linearization_maker.hpp"

namespace tessera {

template class Linearization<Host>;

}  // namespace tessera
