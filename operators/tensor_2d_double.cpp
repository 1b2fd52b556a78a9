#include "operators/tensor_instances.hpp"

template struct tessera::TensorInstances<double, 2>;
