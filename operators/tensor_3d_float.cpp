#include "operators/tensor_instances.hpp"

template struct tessera::TensorInstances<float, 3>;
