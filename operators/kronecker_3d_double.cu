#include "operators/kronecker_kernels.cuh"

namespace tessera {

template <>
void launch_kronecker_3d<double>(int p, const KroneckerData<double>& data) {
  launch_kronecker_3d_degree(p, data);
}

}  // namespace tessera
