#include "operators/kronecker_kernels.cuh"

namespace tessera {

template <>
void launch_kronecker_2d<double>(int p, const KroneckerData<double>& data) {
  launch_kronecker_2d_degree(p, data);
}

}  // namespace tessera
