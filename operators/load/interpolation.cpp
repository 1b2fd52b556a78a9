// This file evaluates a field at all nodes in parallel.
#include "operators/load/interpolation.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "mesh/partition.hpp"

namespace tessera {
namespace {

constexpr Index kBlock = 1024;

// Calls f(first, points) for blocks of consecutive nodes, in parallel.
template <class F>
void for_each_block(const Discretization& discretization, F&& f) {
  parallel_ranges(discretization.lattice.size(), [&](Range range) {
    std::vector<double> x(kBlock);
    std::vector<double> y(kBlock);
    std::vector<double> z(kBlock);
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index count = std::min(kBlock, range.end - first);
      discretization.mapping.node_positions(first, count, x.data(), y.data(), z.data());
      f(first, PointBlock{static_cast<std::size_t>(count), x.data(), y.data(), z.data()});
    }
  });
}

}  // namespace

void interpolate(const Discretization& discretization, const ScalarField& field,
                 HostVector<double>& u) {
  if (field.constant) {
    fill(u, *field.constant);
    return;
  }
  for_each_block(discretization, [&](Index first, const PointBlock& points) {
    field.evaluate(points, u.data() + first);
  });
}

void try_at_nodes(const Discretization& discretization, const ScalarField& field) {
  if (field.constant) return;
  for_each_block(discretization, [&](Index, const PointBlock& points) {
    std::array<double, kBlock> values;
    field.evaluate(points, values.data());
  });
}

}  // namespace tessera
