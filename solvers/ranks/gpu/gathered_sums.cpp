// This file gathers sums of ranks' GPUs.
#include "solvers/ranks/gpu/gathered_sums.hpp"

#include "solvers/check.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {

GatheredSums::GatheredSums(const VectorLayout& layout, int most)
    : layout_(layout),
      all_(layout.shared == nullptr ? 0 : std::int64_t{most} * layout.shared->ranks().size()) {
  TESSERA_CHECK(layout.shared == nullptr || layout.shared->carrier() != nullptr);
}

const double* GatheredSums::gather(const double* mine, int count) {
  TESSERA_CHECK(are_of_several() && std::int64_t{count} * rank_count() <= all_.size());
  layout_.shared->carrier()->all_gather(mine, count * static_cast<std::int64_t>(sizeof(double)),
                                        all_.data());
  return all_.data();
}

}  // namespace tessera
