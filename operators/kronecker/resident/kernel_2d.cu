// This file has the kernels of resident conjugate gradients in 2D.
#include "operators/kronecker/resident/kernel.cuh"

namespace tessera {
template void launch_resident_cg<2>(const ResidentData&, const BrickCut&, int,
                                    const ResidentVectors<double>&, IterationState*);
}  // namespace tessera
