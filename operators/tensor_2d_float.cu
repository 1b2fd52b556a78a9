#include "operators/tensor_instances.cuh"

namespace tessera {

template const TensorKernelInfo<float>* find_tensor_kernel<float, 2>(int, int, FactorKind);

}  // namespace tessera
