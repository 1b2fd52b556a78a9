// This file gathers sums of ranks' GPUs, and adds them.
#include "solvers/check.hpp"
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

GatheredSums::GatheredSums(const VectorLayout& layout, int max_count)
    : layout_(layout),
      all_(layout.shared == nullptr ? 0 : std::int64_t{max_count} * layout.shared->ranks().size()) {
  TESSERA_CHECK(layout.shared == nullptr || layout.shared->carrier() != nullptr);
}

const double* GatheredSums::gather(const double* mine, int count) {
  TESSERA_CHECK(are_of_several() && std::int64_t{count} * rank_count() <= all_.size());
  layout_.shared->carrier()->all_gather(mine, count * static_cast<std::int64_t>(sizeof(double)),
                                        all_.data());
  return all_.data();
}

void GatheredSums::add(const double* mine, int count, double* sums) {
  if (layout_.shared->carrier()->add(mine, count, sums)) return;
  const double* const of_all = gather(mine, count);
  launch(add_gathered_kernel, {"sums of all ranks", 1, 1}, of_all, rank_count(), count, sums);
}

}  // namespace tessera
