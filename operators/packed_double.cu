#include "operators/packed_instances.cuh"

namespace tessera {

template std::unique_ptr<PackedLaunch<double>> make_packed_launch(const Basis1D&, PackedBits);

}  // namespace tessera
