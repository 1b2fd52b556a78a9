#include "operators/kronecker_kernels.cuh"

namespace tessera {

template <>
void launch_kronecker_2d<float>(int p, const KroneckerData<float>& data) {
  launch_kronecker_2d_degree(p, data);
}

}  // namespace tessera
