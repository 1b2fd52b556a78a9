#include "operators/on_the_fly_instances.cuh"

namespace tessera {

template std::unique_ptr<OnTheFlyLaunch<float>> make_on_the_fly_launch<float, 3>(const Basis1D&);

}  // namespace tessera
