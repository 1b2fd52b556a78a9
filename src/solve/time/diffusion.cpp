// This file has the cases in time of the host.
#include "src/solve/time/diffusion_maker.hpp"

namespace tessera {

template class Diffusion<Host>;

}  // namespace tessera
