// This file looks for the cut into bricks by which an iteration takes the least time.
#include "operators/kronecker/resident/bricks.hpp"

#include <algorithm>

#include "operators/kronecker/resident/launch.hpp"

namespace tessera {
namespace {

BrickAxes most_bricks(const BrickAxes& cells, int blocks) {
  BrickAxes most{};
  for (int d = 0; d < 3; ++d) most[d] = std::clamp(cells[d], 1, blocks);
  return most;
}

BrickCut cut_into(const BrickAxes& cells, int p, const BrickAxes& bricks) {
  BrickCut cut;
  cut.bricks = bricks;
  for (int d = 0; d < 3; ++d) cut.nodes[d] = (cells[d] + bricks[d] - 1) / bricks[d] * p + 1;
  return cut;
}

bool fits(const BrickCut& cut, int p, const ResidentRoom& room) {
  // First, as counts of larger bricks may be beyond the range of int.
  const double nodes = static_cast<double>(cut.row()) * cut.nodes[1] * cut.nodes[2];
  return nodes <= kMaxNodesOfThread * kResidentThreads && cut.count() <= room.blocks &&
         cut.shared_values(p) <= room.shared_values &&
         rounds_of_threads(cut.shared_nodes()) <= kMaxSharedNodesOfThread;
}

// About how many cycles an iteration takes, as measured on an H200: the rounds of items that
// threads go through in each pass, their nodes and those that they share.
double time_of(const BrickCut& cut, int p) {
  constexpr double kOfRound = 200.0;
  constexpr double kOfProduct = 15.0;  // of an item, with one nonzero entry of a row
  constexpr double kOuterProducts = 2.0;
  constexpr double kMiddleProducts = 3.2;
  constexpr double kRowProducts = 3.5;  // with what is done at the nodes beside
  constexpr double kOfNode = 400.0;
  constexpr double kOfSharedNode = 500.0;
  const auto time_of_rounds = [&](int items, double products) {
    return rounds_of_threads(items) *
           (kOfRound + kOfProduct * products * planes_of_chunk(p) * (p + 2));
  };
  const auto cells = [&](int d) { return (cut.nodes[d] - 1) / p; };
  double of_chunk = time_of_rounds(cut.row() * cut.nodes[1], kOuterProducts) +
                    time_of_rounds(items_of_pass(p, cells(0), cut.nodes[1]), kRowProducts);
  if (cut.nodes[1] > 1) {
    of_chunk += time_of_rounds(items_of_pass(p, cells(1), cut.row()), kMiddleProducts);
  }
  const int chunks = (cut.nodes[2] - 1) / planes_of_chunk(p) + 1;
  return chunks * of_chunk + kOfNode * rounds_of_threads(cut.size()) +
         kOfSharedNode * rounds_of_threads(cut.shared_nodes());
}

BrickAxes turned(const BrickAxes& of_axes, const BrickAxes& order) {
  return {of_axes[order[0]], of_axes[order[1]], of_axes[order[2]]};
}

}  // namespace

BrickAxes brick_axes(const BoxMesh& mesh) {
  const auto cells = [&](int d) {
    // More than any GPU holds.
    constexpr Index kMany = 1 << 24;
    return static_cast<int>(std::min(mesh.cells()[d], kMany));
  };
  return mesh.dimension() == 3 ? BrickAxes{cells(0), cells(1), cells(2)}
                               : BrickAxes{cells(0), 0, cells(1)};
}

int BrickCut::shared_nodes() const {
  // Of the faces between bricks, edges once.
  const auto inner = [&](int d) { return nodes[d] - std::min(bricks[d] - 1, 2); };
  return nodes[0] * nodes[1] * nodes[2] - inner(0) * inner(1) * inner(2);
}

int BrickCut::max_face() const {
  int most = 0;
  for (int d = 0; d < 3; ++d) {
    if (bricks[d] > 1) most = std::max(most, nodes[0] * nodes[1] * nodes[2] / nodes[d]);
  }
  return most;
}

std::int64_t BrickCut::side_by_side(const BrickAxes& cells, int p) const {
  std::int64_t all = 1;
  for (int d = 0; d < 3; ++d) all *= static_cast<std::int64_t>(cells[d]) * p + bricks[d];
  return all;
}

std::int64_t BrickCut::bytes(const BrickAxes& cells, int p) const {
  const std::int64_t values = count() * (size() + 6LL * max_face() + 2) + side_by_side(cells, p);
  const std::size_t lists =
      shared_nodes() * sizeof(FaceNode) + edge_nodes() * sizeof(EdgeNode) + sizeof(SharedCount);
  return values * static_cast<std::int64_t>(sizeof(double)) +
         count() * static_cast<std::int64_t>(lists);
}

std::optional<std::int64_t> resident_cg_bytes(const BoxMesh& mesh, int p) {
  const BrickAxes cells = brick_axes(mesh);
  const std::optional<TurnedCut> best = best_turned_cut(cells, p, kMeasuredGpu);
  if (!best) return std::nullopt;
  return best->cut.bytes(turned(cells, best->order), p);
}

std::optional<BrickCut> best_brick_cut(const BrickAxes& cells, int p, const ResidentRoom& room) {
  std::optional<BrickCut> best;
  double best_time = 0.0;
  const BrickAxes most = most_bricks(cells, room.blocks);
  BrickAxes bricks{};
  for (bricks[2] = 1; bricks[2] <= most[2]; ++bricks[2]) {
    for (bricks[1] = 1; bricks[1] * bricks[2] <= room.blocks && bricks[1] <= most[1]; ++bricks[1]) {
      for (bricks[0] = 1; bricks[0] * bricks[1] * bricks[2] <= room.blocks && bricks[0] <= most[0];
           ++bricks[0]) {
        const BrickCut cut = cut_into(cells, p, bricks);
        if (!fits(cut, p, room)) continue;
        const double time = time_of(cut, p);
        if (best && time >= best_time) continue;
        best = cut;
        best_time = time;
      }
    }
  }
  return best;
}

std::optional<TurnedCut> best_turned_cut(const BrickAxes& cells, int p, const ResidentRoom& room) {
  if (const std::optional<BrickCut> cut = best_brick_cut(cells, p, room)) {
    return TurnedCut{{0, 1, 2}, *cut};
  }
  constexpr BrickAxes kOrders[] = {{2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
  std::optional<TurnedCut> best;
  double best_time = 0.0;
  for (const BrickAxes& order : kOrders) {
    // In 2D the middle axis stays where it is.
    if (cells[1] == 0 && order[1] != 1) continue;
    const std::optional<BrickCut> cut = best_brick_cut(turned(cells, order), p, room);
    if (!cut) continue;
    const double time = time_of(*cut, p);
    if (best && time >= best_time) continue;
    best = TurnedCut{order, *cut};
    best_time = time;
  }
  return best;
}

}  // namespace tessera
