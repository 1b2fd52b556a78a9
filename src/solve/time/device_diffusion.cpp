// This file has the cases in time of the GPU.
#include "src/solve/time/diffusion_maker.hpp"

namespace tessera {

template class Diffusion<Device>;

}  // namespace tessera
