// This file evaluates maps at the nodes in GPU memory.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "mesh/geometry/natural_frame.hpp"
#include "operators/cells/fields/device_map.hpp"
#include "operators/cells/fields/device_nodes.hpp"
#include "operators/cells/fields/device_program.cuh"
#include "operators/form/on_all_ranks.hpp"
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/ordered_bits.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 256;
constexpr Index kMaxBlocks = 1 << 12;

// A component of a map, and where the nodes of the box are.
struct ComponentArguments {
  IndexBox nodes;
  const double* line[3];  // along each axis
  FieldProgramView program;
  double* values;
  unsigned long long* extremes;  // ordered_bits() of the largest, their complement of the least
};

// values [node]. Launch: blocks of kThreads threads, a thread for each node, striding. Least bytes:
// values once.
__global__ void __launch_bounds__(kThreads) component_kernel(ComponentArguments g) {
  unsigned long long least = ~0ULL;
  unsigned long long largest = 0;
  const Index count = g.nodes.size();
  for (Index i = thread_number<kThreads>(); i < count; i += thread_count<kThreads>()) {
    const IndexTriple place = g.nodes.position(i);
    const double value = evaluate_at<kThreads, double>(g.program, nullptr, g.line[0][place[0]],
                                                       g.line[1][place[1]], g.line[2][place[2]]);
    g.values[i] = value;
    const unsigned long long bits = ordered_bits(value);
    least = min(least, bits);
    largest = max(largest, bits);
  }
  keep_largest(largest, g.extremes);
  keep_largest(~least, g.extremes + 1);
}

// The positions on the GPU, and in which intervals they lie; not finite if one of them is not.
DeviceNodes::Coordinates evaluate_map(const Mapping& box, const std::array<ScalarField, 3>& map,
                                      Intervals& intervals) {
  const NodeLattice& lattice = box.lattice();
  std::array<DeviceArray<double>, 3> lines;
  ComponentArguments arguments{};
  arguments.nodes = lattice.nodes();
  for (int d = 0; d < 3; ++d) {
    lines[d] = DeviceArray<double>(box.line(d));
    arguments.line[d] = lines[d].data();
  }
  DeviceNodes::Coordinates coordinates;
  for (int d = 0; d < lattice.dimension(); ++d) {
    const DeviceProgram program(*shallow_program(map[d]));
    DeviceArray<unsigned long long> extremes(std::vector<unsigned long long>{0, 0});
    coordinates[d] = DeviceArray<double>(lattice.size());
    arguments.program = program.view();
    arguments.values = coordinates[d].data();
    arguments.extremes = extremes.data();
    launch(component_kernel,
           {"the map", blocks_for(lattice.size(), kThreads, kMaxBlocks), kThreads}, arguments);
    const std::vector<unsigned long long> found = to_host(extremes);
    intervals[d] = {from_ordered_bits(~found[1]), from_ordered_bits(found[0])};
  }
  return coordinates;
}

bool are_finite(const Intervals& intervals, int dimension) {
  return std::all_of(intervals.begin(), intervals.begin() + dimension,
                     [](const Interval& interval) {
                       return std::isfinite(interval.low) && std::isfinite(interval.high);
                     });
}

// Whether all cells have edges of some length along each axis; 0 is left to who checks the cells.
bool have_digits(const BoxMesh& mesh, const NodeLattice& lattice,
                 const DeviceNodes::Coordinates& coordinates, double least) {
  const int dimension = mesh.dimension();
  const int degree = lattice.degree();
  const IndexBox cells(mesh.cells());
  const IndexBox nodes = lattice.nodes();
  const double* const x = coordinates[0].data();
  const double* const y = coordinates[1].data();
  const double* const z = coordinates[2].data();
  DeviceArray<int> all(std::vector<int>{1});
  int* const result = all.data();
  for_each_entry(mesh.cell_count(), "the edges of cells", [=] __device__(Index number) {
    const IndexTriple cell = cells.position(number);
    for (int d = 0; d < dimension; ++d) {
      double longest = 0.0;
      for (int corner = 0; corner < 1 << dimension; ++corner) {
        if ((corner >> d & 1) != 0) continue;
        Index begin = 0;
        for (int a = 0; a < dimension; ++a) {
          begin += degree * (cell[a] + (corner >> a & 1)) * nodes.strides[a];
        }
        const Index end = begin + degree * nodes.strides[d];
        const double along_z = dimension == 3 ? z[end] - z[begin] : 0.0;
        longest = fmax(longest, norm3d(x[end] - x[begin], y[end] - y[begin], along_z));
      }
      if (longest != 0.0 && !(longest >= least)) *result = 0;
    }
  });
  return to_host(all).front() == 1;
}

void move_to(const Frame& frame, Index count, DeviceNodes::Coordinates& coordinates,
             int dimension) {
  for (int d = 0; d < dimension && !frame.is_physical(); ++d) {
    double* const x = coordinates[d].data();
    const double origin = frame.origin[d];
    const double length = frame.length;
    for_each_entry(count, "moving positions",
                   [=] __device__(Index i) { x[i] = (x[i] - origin) / length; });
  }
}

// Evaluates the map at some nodes on the host.
DeviceNodes::ReadSome reader(Mapping box, std::array<ScalarField, 3> map, const Frame& frame) {
  return [box = std::move(box), map = std::move(map), frame](std::span<const Index> nodes,
                                                             const std::array<double*, 3>& to) {
    std::array<std::vector<double>, 3> at;
    for (auto& values : at) values.resize(nodes.size());
    box.node_positions(nodes, at[0].data(), at[1].data(), at[2].data());
    const PointBlock points{nodes.size(), at[0].data(), at[1].data(), at[2].data()};
    for (int d = 0; d < box.lattice().dimension(); ++d) {
      map[d].evaluate(points, to[d]);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        to[d][i] = (to[d][i] - frame.origin[d]) / frame.length;
      }
    }
  };
}

}  // namespace

std::optional<Discretization> make_mapped_on_device(const BoxMesh& physical, const Basis1D& basis,
                                                    const std::array<ScalarField, 3>& components,
                                                    const Communicator& ranks) {
  const int dimension = physical.dimension();
  if (!is_map_for_gpu(components, dimension)) return std::nullopt;
  const NodeLattice lattice(physical, basis.degree);
  Mapping box(physical, lattice, basis.nodes);
  Intervals intervals{};
  DeviceNodes::Coordinates coordinates =
      on_all_ranks(ranks, [&] { return evaluate_map(box, components, intervals); });
  if (ranks.any(!are_finite(intervals, dimension))) return std::nullopt;
  for (Interval& interval : intervals) {
    ranks.min({&interval.low, 1});
    ranks.max({&interval.high, 1});
  }
  const double least = min_edge(intervals, dimension);
  const bool has_digits =
      on_all_ranks(ranks, [&] { return have_digits(physical, lattice, coordinates, least); });
  if (ranks.any(!has_digits)) return std::nullopt;
  const Frame frame = natural_frame(intervals, dimension);
  return on_all_ranks(ranks, [&] {
    move_to(frame, lattice.size(), coordinates, dimension);
    auto nodes = std::make_shared<DeviceNodes>(lattice, std::move(coordinates),
                                               reader(std::move(box), components, frame));
    return mapped_in_frame(physical, basis, frame, std::move(nodes));
  });
}

}  // namespace tessera
