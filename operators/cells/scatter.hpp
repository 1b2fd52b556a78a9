// A Scatter policy says how cells add into a shared vector without a race.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/node_lattice.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// How one value is added into a shared vector.
enum class AddMode { plain, atomic };

/// Where and how a brick adds: node i of the lattice is values[i - first_node].
template <class T>
struct AddTarget {
  T* values;
  Index first_node;
  AddMode mode;
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
  /// Memory beyond y.
  virtual Index bytes() const { return 0; }
};

/// What a policy may be used for.
enum class ScatterUse { all, comparison };

/// One row of the table of policies.
struct ScatterInfo {
  std::string_view name;
  std::string_view summary;
  bool deterministic;  // the same bits in every run with the same number of threads
  bool on_cpu;
  bool on_gpu;
  std::string_view only_kernel = {};  // the one kernel that takes it; empty: all that take one
  ScatterUse use = ScatterUse::all;
};

/// All policies, in the order of `tessera list`.
std::span<const ScatterInfo> scatter_table();

/// The row of this name, or null.
const ScatterInfo* find_scatter(std::string_view name);

/// Makes a policy of the host by its name in the table. The batches are referred to.
/// @throws std::invalid_argument for a name that the host does not have.
template <class T>
std::unique_ptr<Scatter<T>> make_scatter(std::string_view name, const CellBatches& batches,
                                         const NodeLattice& lattice);

/// Bytes beyond y that the policy will need on the host, before building it.
Index scatter_bytes(std::string_view name, Index dofs, Index value_bytes);

}  // namespace tessera
