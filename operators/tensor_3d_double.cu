#include "operators/tensor_instances.cuh"

namespace tessera {

template const TensorKernelInfo<double>* find_tensor_kernel<double, 3>(int, int, FactorKind);

}  // namespace tessera
