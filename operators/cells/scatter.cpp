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
#include "mesh/saturated.hpp"
#include "operators/cells/batching.hpp"

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
    run_bricks([&](const Brick& brick) {
      const AddTarget<T> target{y.data(), 0, AddMode::plain};
      clear_nodes(new_nodes(brick), lattice_, target);
      add_brick(brick, target);
    });
  }
  void run_unset(const BrickFunction<T>& add_brick, HostVector<T>& y) const override {
    run_bricks([&](const Brick& brick) {
      add_brick(brick, {y.data(), 0, AddMode::plain, new_nodes(brick)});
    });
  }

 private:
  template <class F>
  void run_bricks(F&& run_brick) const {
    const std::span<const Brick> bricks = batches_->bricks();
    FirstFailure failure;
#pragma omp parallel if (bricks.size() > 1)
    {
      for (int color = 0; color < batches_->color_count(); ++color) {
        const std::span<const Index> numbers = batches_->bricks_of_color(color);
        if (numbers.empty()) continue;
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          failure.guard(numbers[i], [&] { run_brick(bricks[numbers[i]]); });
        }
      }
    }
    failure.rethrow();
  }

  // The nodes that no brick of a lower color has: all but those on faces to a neighbor along an
  // axis where the brick's number is odd (operators/README.md, "First or add").
  NodeRange new_nodes(const Brick& brick) const {
    NodeRange nodes{{0, 0, 0}, {1, 1, 1}};
    for (int d = 0; d < lattice_.dimension(); ++d) {
      const bool odd = (brick.color >> d) % 2 == 1;
      nodes.first[d] = brick.first[d] * lattice_.degree() + (odd ? 1 : 0);
      nodes.end[d] = nodes_along(brick.first[d] + brick.count[d], lattice_.degree());
      if (odd && nodes.end[d] < lattice_.extents()[d]) --nodes.end[d];
    }
    return nodes;
  }

  const CellBatches* batches_;
  NodeLattice lattice_;
};

// The nodes from the first one of a cell to the last one of another, which comes after it.
Range nodes_from_to(const NodeLattice& lattice, const IndexTriple& first, IndexTriple last) {
  for (int d = 0; d < lattice.dimension(); ++d) ++last[d];
  return {lattice.first_node(first), lattice.vertex_node(last) + 1};
}

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
      // Bricks are in the order of nodes, those of their first cells as well as of their last ones.
      const Brick& last = bricks[part.bricks.end - 1];
      IndexTriple last_cell{};
      for (int d = 0; d < 3; ++d) last_cell[d] = last.first[d] + last.count[d] - 1;
      part.nodes = nodes_from_to(lattice, bricks[part.bricks.begin].first, last_cell);
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

template <template <class> class Policy, class T>
std::unique_ptr<Scatter<T>> make(const CellBatches& batches, const NodeLattice& lattice) {
  if constexpr (std::is_constructible_v<Policy<T>, const CellBatches&, const NodeLattice&>) {
    return std::make_unique<Policy<T>>(batches, lattice);
  } else {
    return std::make_unique<Policy<T>>(batches);
  }
}

template <template <class> class Policy>
constexpr ScatterMakers kMakers{make<Policy, double>, make<Policy, float>};

// The values of all buffers of PrivateScatter: those of threads whose bricks begin in one layer
// each span most of it.
Saturated private_values(const FormShape& shape) {
  const IndexTriple& cells = shape.mesh.cells();
  const IndexTriple of_brick = brick_cells(shape);
  const IndexBox bricks(ceil_div(cells, of_brick));
  const Index threads = omp_get_max_threads();
  Saturated values = 0;
  for (Index t = 0; t < threads; ++t) {
    const Range range = partition(bricks.count(), t, threads);
    if (range.size() == 0) continue;
    IndexTriple first = bricks.position(range.begin);
    IndexTriple last = bricks.position(range.end - 1);
    for (int d = 0; d < 3; ++d) {
      first[d] *= of_brick[d];
      last[d] = std::min((last[d] + 1) * of_brick[d], cells[d]) - 1;
    }
    values += nodes_from_to(shape.lattice, first, last).size();
  }
  return values;
}

// Buffers of threads, or the E-vector.
Index private_bytes(const FormShape& shape) {
  const Saturated values = shape.processor == Processor::cpu ? private_values(shape)
                                                             : Saturated(shape.mesh.cell_count()) *
                                                                   shape.lattice.nodes_per_cell();
  return values * shape.value_bytes;
}

std::vector<ScatterInfo>& table() {
  static std::vector<ScatterInfo> rows = {
      {.name = "serial",
       .summary = "one thread adds cell after cell",
       .deterministic = Deterministic::yes,
       .on_cpu = kMakers<SerialScatter>},
      {.name = "atomic",
       .summary = "all threads add at once, every addition atomic",
       .deterministic = Deterministic::no,
       .on_cpu = kMakers<AtomicScatter>,
       .on_gpu = DeviceScatter::atomic,
       .measured = {.on_gpu = 61400.0}},
      {.name = "coloring",
       .summary =
           "2^d colors of cells (CPU: bricks of cells), one after another; a color shares no node",
       .deterministic = Deterministic::yes,
       .on_cpu = kMakers<ColoringScatter>,
       .on_gpu = DeviceScatter::coloring,
       .measured = {.on_cpu = 255.0, .on_gpu = 32200.0}},
      {.name = "private",
       .summary = "CPU: every thread adds into its own buffer, then they are summed; GPU: every "
                  "cell writes its own values (E-vector), then each node sums its cells'",
       .deterministic = Deterministic::yes,
       .on_cpu = kMakers<PrivateScatter>,
       .on_gpu = DeviceScatter::private_cells,
       .bytes = private_bytes,
       .measured = {.on_gpu = 15800.0}},
      {.name = "patch",
       .summary = "a thread block adds a brick of cells in shared memory; only the brick's surface "
                  "is added atomically; degrees with a fast path and stored factors",
       .deterministic = Deterministic::no,
       .on_gpu = DeviceScatter::patch,
       .only_kernel = "tensor",
       .measured = {.on_gpu = 36300.0}},
      {.name = "unprotected",
       .summary =
           "no protection: results are wrong; what protection costs (compare only, never run)",
       .deterministic = Deterministic::no,
       .on_gpu = DeviceScatter::unprotected,
       .use = ScatterUse::comparison},
  };
  return rows;
}

}  // namespace

std::span<const ScatterInfo> scatter_table() { return table(); }

void add_scatter(const ScatterInfo& scatter) { table().push_back(scatter); }

const ScatterInfo* find_scatter(std::string_view name) {
  const auto row = std::find_if(table().begin(), table().end(),
                                [&](const ScatterInfo& info) { return info.name == name; });
  return row == table().end() ? nullptr : &*row;
}

std::string_view scatter_name(DeviceScatter scatter) {
  for (const ScatterInfo& row : table()) {
    if (row.on_gpu == scatter) return row.name;
  }
  throw std::logic_error("a scatter policy of the GPU has no row");
}

template <class T>
std::unique_ptr<Scatter<T>> make_scatter(std::string_view name, const CellBatches& batches,
                                         const NodeLattice& lattice) {
  const ScatterInfo* row = find_scatter(name);
  if (row == nullptr || !row->runs_on(Processor::cpu)) {
    throw std::invalid_argument("no scatter policy of the CPU is named " + std::string(name));
  }
  if constexpr (std::is_same_v<T, double>) {
    return row->on_cpu.of_double(batches, lattice);
  } else {
    return row->on_cpu.of_float(batches, lattice);
  }
}

Index scatter_bytes(std::string_view name, const FormShape& shape) {
  const ScatterInfo* row = find_scatter(name);
  return row == nullptr || row->bytes == nullptr ? 0 : row->bytes(shape);
}

template std::unique_ptr<Scatter<double>> make_scatter(std::string_view, const CellBatches&,
                                                       const NodeLattice&);
template std::unique_ptr<Scatter<float>> make_scatter(std::string_view, const CellBatches&,
                                                      const NodeLattice&);

}  // namespace tessera
