// This file adds sums of ranks' GPUs.
#include "solvers/memory/launch.cuh"
#include "solvers/ranks/gpu/device_carrier.hpp"
#include "solvers/ranks/gpu/gathered_sums.hpp"

namespace tessera {
namespace {

// sums[k] = the sum over ranks of gathered[rank][k], in their order. One thread.
__global__ void add_gathered_kernel(const double* gathered, int ranks, int count, double* sums) {
  for (int k = 0; k < count; ++k) {
    double sum = 0.0;
    for (int rank = 0; rank < ranks; ++rank) sum += gathered[rank * count + k];
    sums[k] = sum;
  }
}

}  // namespace

void GatheredSums::add(const double* mine, int count, double* sums) {
  if (layout_.shared->carrier()->add(mine, count, sums)) return;
  const double* const of_all = gather(mine, count);
  launch(add_gathered_kernel, {"sums of all ranks", 1, 1}, of_all, rank_count(), count, sums);
}

}  // namespace tessera
