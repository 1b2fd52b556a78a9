#include "operators/on_the_fly_instances.cuh"

namespace tessera {

template std::unique_ptr<OnTheFlyLaunch<double>> make_on_the_fly_launch<double, 2>(const Basis1D&);

}  // namespace tessera
