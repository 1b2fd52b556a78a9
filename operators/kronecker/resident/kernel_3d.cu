// This file has the kernels of resident conjugate gradients in 3D.
#include "operators/kronecker/resident/kernel.cuh"

namespace tessera {
template void launch_resident_cg<3>(const ResidentData&, const BrickCut&, int,
                                    const ResidentVectors<double>&, IterationState*);
}  // namespace tessera
