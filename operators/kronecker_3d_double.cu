#include "operators/kronecker_kernels.cuh"

namespace tessera {

template <>
void launch_kronecker_3d<double>(int p, const KroneckerData<double>& data) {
  launch_kronecker_degree<3>(p, data);
}

}  // namespace tessera
