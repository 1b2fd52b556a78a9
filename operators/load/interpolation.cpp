// This file evaluates a field at all nodes in parallel.
#include "operators/load/interpolation.hpp"

#include <algorithm>
#include <vector>

#include "mesh/partition.hpp"

namespace tessera {

void interpolate(const Discretization& discretization, const ScalarField& field,
                 HostVector<double>& u) {
  constexpr Index kBlock = 1024;
  if (field.constant) {
    fill(u, *field.constant);
    return;
  }
  parallel_ranges(u.size(), [&](Range range) {
    std::vector<double> x(kBlock);
    std::vector<double> y(kBlock);
    std::vector<double> z(kBlock);
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index count = std::min(kBlock, range.end - first);
      discretization.mapping.node_positions(first, count, x.data(), y.data(), z.data());
      field.evaluate({static_cast<std::size_t>(count), x.data(), y.data(), z.data()},
                     u.data() + first);
    }
  });
}

}  // namespace tessera
