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

void GatheredSums::add(const double* mine, int count, double* sums) {
  TESSERA_CHECK(are_of_several());
  const DeviceCarrier& carrier = *layout_.shared->carrier();
  if (carrier.add(mine, count, sums)) return;
  const int ranks = carrier.ranks().size();
  TESSERA_CHECK(std::int64_t{count} * ranks <= all_.size());
  carrier.all_gather(mine, count * static_cast<std::int64_t>(sizeof(double)), all_.data());
  launch(add_gathered_kernel, {"sums of all ranks", 1, 1}, all_.data(), ranks, count, sums);
}

}  // namespace tessera
