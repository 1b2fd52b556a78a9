// This file has the table of scatter policies, and those of the host.
#include "operators/cells/scatter.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "mesh/first_failure.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/partition.hpp"

namespace tessera {
namespace {

/// One thread adds all bricks in order.
template <class T>
class SerialScatter final : public Scatter<T> {
 public:
  explicit SerialScatter(const CellBatches& batches) : batches_(&batches) {}

  std::string_view name() const override { return "serial"; }
  void run(const BrickFunction<T>& add_brick, HostVector<T>& y) const override {
    std::fill_n(y.data(), y.size(), T{0});
    for (const Brick& brick : batches_->bricks()) add_brick(brick, {y.data(), 0, AddMode::plain});
  }

 private:
  const CellBatches* batches_;
};

/// All threads add at once; every addition is atomic.
template <class T>
class AtomicScatter final : public Scatter<T> {
 public:
  explicit AtomicScatter(const CellBatches& batches) : batches_(&batches) {}

  std::string_view name() const override { return "atomic"; }
  void run(const BrickFunction<T>& add_brick, HostVector<T>& y) const override {
    fill(y, T{0});
    const std::span<const Brick> bricks = batches_->bricks();
    FirstFailure failure;
#pragma omp parallel for schedule(static)
    for (std::size_t b = 0; b < bricks.size(); ++b) {
      failure.guard(static_cast<Index>(b), [&] {
        add_brick(bricks[b], {y.data(), 0, AddMode::atomic});
      });
    }
    failure.rethrow();
  }

 private:
  const CellBatches* batches_;
};

/// One color after another: bricks of one color share no node, so they may run together.
template <class T>
class ColoringScatter final : public Scatter<T> {
 public:
  ColoringScatter(const CellBatches& batches, const NodeLattice& lattice)
      : batches_(&batches), lattice_(lattice) {}

  std::string_view name() const override { return "coloring"; }
  void run(const BrickFunction<T>& add_brick, HostVector<T>& y) const override {
    const std::span<const Brick> bricks = batches_->bricks();
    FirstFailure failure;
#pragma omp parallel
    {
      for (int color = 0; color < batches_->color_count(); ++color) {
        const std::span<const Index> numbers = batches_->bricks_of_color(color);
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const Brick& brick = bricks[numbers[i]];
          clear_new_nodes(brick, y.data());
          failure.guard(numbers[i], [&] { add_brick(brick, {y.data(), 0, AddMode::plain}); });
        }
      }
    }
    failure.rethrow();
  }

 private:
  // y = 0 at the nodes that no brick of a lower color has: all but those on faces to a neighbor
  // along an axis where the brick's number is odd (operators/README.md, "First or add").
  void clear_new_nodes(const Brick& brick, T* y) const {
    IndexTriple first{0, 0, 0};
    IndexTriple end{1, 1, 1};
    for (int d = 0; d < lattice_.dimension(); ++d) {
      const bool odd = (brick.color >> d) % 2 == 1;
      first[d] = brick.first[d] * lattice_.degree() + (odd ? 1 : 0);
      end[d] = (brick.first[d] + brick.count[d]) * lattice_.degree() + 1;
      if (odd && end[d] < lattice_.extents()[d]) --end[d];
    }
    for (Index z = first[2]; z < end[2]; ++z) {
      for (Index row = first[1]; row < end[1]; ++row) {
        std::fill_n(y + lattice_.node_index({first[0], row, z}), end[0] - first[0], T{0});
      }
    }
  }

  const CellBatches* batches_;
  NodeLattice lattice_;
};

/// Every thread adds into its own buffer, which spans the nodes of its bricks; then the buffers are
/// summed in the order of the threads.
template <class T>
class PrivateScatter final : public Scatter<T> {
 public:
  PrivateScatter(const CellBatches& batches, const NodeLattice& lattice)
      : batches_(&batches), parts_(static_cast<std::size_t>(omp_get_max_threads())) {
    const std::span<const Brick> bricks = batches.bricks();
    for (std::size_t t = 0; t < parts_.size(); ++t) {
      Part& part = parts_[t];
      part.bricks = partition(static_cast<Index>(bricks.size()), static_cast<Index>(t),
                              static_cast<Index>(parts_.size()));
      if (part.bricks.size() == 0) continue;
      part.nodes = {lattice.size(), 0};
      for (Index b = part.bricks.begin; b < part.bricks.end; ++b) {
        IndexTriple last = bricks[b].first;
        IndexTriple corner{0, 0, 0};
        for (int d = 0; d < lattice.dimension(); ++d) {
          last[d] += bricks[b].count[d];
          corner[d] = last[d] * lattice.degree();
        }
        part.nodes.begin = std::min(part.nodes.begin, lattice.first_node(bricks[b].first));
        part.nodes.end = std::max(part.nodes.end, lattice.node_index(corner) + 1);
      }
      part.buffer.resize(static_cast<std::size_t>(part.nodes.size()));
    }
  }

  std::string_view name() const override { return "private"; }
  void run(const BrickFunction<T>& add_brick, HostVector<T>& y) const override {
    const std::span<const Brick> bricks = batches_->bricks();
    FirstFailure failure;
#pragma omp parallel for schedule(static, 1)
    for (std::size_t t = 0; t < parts_.size(); ++t) {
      const Part& part = parts_[t];
      std::fill(part.buffer.begin(), part.buffer.end(), T{0});
      for (Index b = part.bricks.begin; b < part.bricks.end; ++b) {
        failure.guard(b, [&] {
          add_brick(bricks[b], {part.buffer.data(), part.nodes.begin, AddMode::plain});
        });
      }
    }
    failure.rethrow();
    parallel_ranges(y.size(), [&](Range range) {
      std::fill(y.data() + range.begin, y.data() + range.end, T{0});
      for (const Part& part : parts_) {
        const Index begin = std::max(range.begin, part.nodes.begin);
        const Index end = std::min(range.end, part.nodes.end);
        for (Index i = begin; i < end; ++i) y[i] += part.buffer[i - part.nodes.begin];
      }
    });
  }

  Index bytes() const override {
    Index values = 0;
    for (const Part& part : parts_) values += part.nodes.size();
    return values * static_cast<Index>(sizeof(T));
  }

 private:
  struct Part {
    Range bricks{0, 0};
    Range nodes{0, 0};
    mutable HostArray<T> buffer;
  };

  const CellBatches* batches_;
  std::vector<Part> parts_;
};

constexpr std::array<ScatterInfo, 6> kTable = {{
    {"serial", "one thread adds cell after cell", true, true, false},
    {"atomic", "all threads add at once, every addition atomic", false, true, true},
    {"coloring",
     "2^d colors of cells (CPU: bricks of cells), one after another; a color shares no node", true,
     true, true},
    {"private",
     "CPU: every thread adds into its own buffer, then they are summed; GPU: every cell writes its "
     "own values (E-vector), then each node sums its cells'",
     true, true, true},
    {"patch",
     "a thread block adds a brick of cells in shared memory; only the brick's surface is added "
     "atomically; degrees with a fast path and stored factors",
     false, false, true, "tensor"},
    {"unprotected",
     "no protection: results are wrong; what protection costs (compare only, never run)", false,
     false, true, "", ScatterUse::comparison},
}};

}  // namespace

std::span<const ScatterInfo> scatter_table() { return kTable; }

const ScatterInfo* find_scatter(std::string_view name) {
  const auto* row = std::find_if(kTable.begin(), kTable.end(),
                                 [&](const ScatterInfo& info) { return info.name == name; });
  return row == kTable.end() ? nullptr : row;
}

template <class T>
std::unique_ptr<Scatter<T>> make_scatter(std::string_view name, const CellBatches& batches,
                                         const NodeLattice& lattice) {
  if (name == "serial") return std::make_unique<SerialScatter<T>>(batches);
  if (name == "atomic") return std::make_unique<AtomicScatter<T>>(batches);
  if (name == "coloring") return std::make_unique<ColoringScatter<T>>(batches, lattice);
  if (name == "private") return std::make_unique<PrivateScatter<T>>(batches, lattice);
  throw std::invalid_argument("no scatter policy is named " + std::string(name));
}

Index scatter_bytes(std::string_view name, Index dofs, Index value_bytes) {
  return name == "private" ? dofs * value_bytes : 0;
}

template std::unique_ptr<Scatter<double>> make_scatter(std::string_view, const CellBatches&,
                                                       const NodeLattice&);
template std::unique_ptr<Scatter<float>> make_scatter(std::string_view, const CellBatches&,
                                                      const NodeLattice&);

}  // namespace tessera
