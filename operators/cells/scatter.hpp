// A Scatter policy says how cells add into a shared vector without a race.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/node_lattice.hpp"
#include "operators/form/form_shape.hpp"
#include "operators/form/kernel_info.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// How one value is added into a shared vector.
enum class AddMode { plain, atomic };

/// The nodes first[d] <= i < end[d] along each axis.
struct NodeRange {
  IndexTriple first{};
  IndexTriple end{};

  bool is_empty() const { return first[0] >= end[0] || first[1] >= end[1] || first[2] >= end[2]; }
};

/// Where and how a brick adds: node i of the lattice is values[i - first_node].
template <class T>
struct AddTarget {
  T* values;
  Index first_node;
  AddMode mode;
  /// Nodes that hold nothing yet: what the brick adds to them first is their value. None where mode
  /// is atomic.
  NodeRange unset = {};
};

/// Adds the contributions of one brick of cells.
template <class T>
using BrickFunction = std::function<void(const Brick& brick, const AddTarget<T>& target)>;

/// How cells may add into a shared vector without a race: the threads, the order of the bricks and
/// the memory that they add into.
template <class T>
class Scatter {
 public:
  virtual ~Scatter() = default;

  /// The policy's name in scatter_table().
  virtual std::string_view name() const = 0;
  /// y = sum over all bricks of what add_brick adds; what y held before does not matter.
  /// One call at a time, since a policy may own buffers; operators see to that.
  virtual void run(const BrickFunction<T>& add_brick, HostVector<T>& y) const = 0;
  /// As run(), but the policy need not make y = 0 where no brick has added before: a brick is told
  /// in AddTarget::unset where it has to set.
  virtual void run_unset(const BrickFunction<T>& add_brick, HostVector<T>& y) const {
    run(add_brick, y);
  }
  /// Memory beyond y.
  virtual Index bytes() const { return 0; }
};

/// Sets the values of the nodes to 0.
template <class T>
void clear_nodes(const NodeRange& nodes, const NodeLattice& lattice, const AddTarget<T>& target) {
  if (nodes.is_empty()) return;
  for (Index z = nodes.first[2]; z < nodes.end[2]; ++z) {
    for (Index row = nodes.first[1]; row < nodes.end[1]; ++row) {
      const Index first = lattice.node_index({nodes.first[0], row, z}) - target.first_node;
      std::fill_n(target.values + first, nodes.end[0] - nodes.first[0], T{0});
    }
  }
}

/// What a policy may be used for.
enum class ScatterUse { all, comparison };

/// Measured million DoFs per second of an application by the kernel tensor: 3D, degree 4, equal
/// cells, double precision (README.md of operators); 0: not measured.
struct ScatterSpeed {
  double on_cpu = 0.0;
  double on_gpu = 0.0;
};

/// How the operators on the GPU add by a policy; scatter_table() says what each means.
enum class DeviceScatter { atomic, coloring, private_cells, patch, unprotected };

template <class T>
using MakeScatter = std::unique_ptr<Scatter<T>> (*)(const CellBatches& batches,
                                                    const NodeLattice& lattice);

/// What makes a policy on the host; null where the host does not have it.
struct ScatterMakers {
  MakeScatter<double> of_double = nullptr;
  MakeScatter<float> of_float = nullptr;
};

/// One row of the table of policies.
struct ScatterInfo {
  std::string_view name;
  std::string_view summary;
  Deterministic deterministic;
  ScatterMakers on_cpu = {};
  std::optional<DeviceScatter> on_gpu = std::nullopt;
  /// Bytes beyond y, in the memory of shape.processor; null: none.
  Index (*bytes)(const FormShape& shape) = nullptr;
  /// The one kernel that takes it; empty: all that take one.
  std::string_view only_kernel = {};
  ScatterUse use = ScatterUse::all;
  ScatterSpeed measured = {};

  bool runs_on(Processor processor) const {
    return processor == Processor::cpu ? on_cpu.of_double != nullptr : on_gpu.has_value();
  }
  double speed(Processor processor) const {
    return processor == Processor::cpu ? measured.on_cpu : measured.on_gpu;
  }
};

/// All policies, in the order of `tessera list`.
std::span<const ScatterInfo> scatter_table();

/// Adds a row to the table: for programs with policies of their own, before they use the table.
void add_scatter(const ScatterInfo& scatter);

/// The row of this name, or null. It is valid until a policy is added.
const ScatterInfo* find_scatter(std::string_view name);

/// The name of the policy by which the GPU adds so.
std::string_view scatter_name(DeviceScatter scatter);

/// Makes a policy of the host by its name in the table. The batches are referred to.
/// @throws std::invalid_argument for a name that the host does not have.
template <class T>
std::unique_ptr<Scatter<T>> make_scatter(std::string_view name, const CellBatches& batches,
                                         const NodeLattice& lattice);

/// Bytes beyond y that the policy will need, before building it; 0 for the name "none".
Index scatter_bytes(std::string_view name, const FormShape& shape);

}  // namespace tessera
