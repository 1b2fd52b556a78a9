// An AssemblyMethod is one way in which a team of threads assembles a matrix.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/studies/assembly/assembly_target.hpp"
#include "src/studies/assembly/contribution.hpp"
#include "src/studies/assembly/device_assembly.hpp"
#include "src/studies/sharing/retry.hpp"

namespace tessera {

/// What is assembled where. All is referred to.
struct AssemblyTask {
  const TriangleMesh& mesh;
  const AssemblyTarget& target;
  /// greedy_colors() of the mesh.
  const std::vector<std::vector<Index>>& colors;
  /// target.entries values, 0 before each assembly.
  std::vector<double>& values;

  [[nodiscard]] Index triangle_count() const { return std::ssize(mesh.triangles); }
  [[nodiscard]] Destination destination(Index triangle) const {
    return {mesh, target, values.data(), triangle};
  }
};

class AssemblyMethod {
 public:
  virtual ~AssemblyMethod() = default;
  /// Called by each thread of the team before each assembly, outside of the clock.
  virtual void prepare(int /*thread*/) {}
  /// The part of one thread; there may be barriers of OpenMP in it.
  virtual void assemble(int thread) = 0;
  /// Memory beyond mesh, target and values.
  [[nodiscard]] virtual Index extra_bytes() const { return 0; }
  /// What became of the transactions of all assemblies so far.
  [[nodiscard]] virtual TransactionCounts transactions() const { return {}; }
};

/// How a method treats entries that several triangles add to.
enum class Sharing { one_thread, unprotected, protects, avoids };

/// Does additions in one transaction, as add_together() does.
using AddTogether = void (*)(std::span<const Addition> additions, TransactionState& state);

/// Who assembles.
struct AssemblyTeam {
  /// Of transactions: what each thread starts with, and what does them.
  TransactionState state = {};
  AddTogether add_together = nullptr;
  int threads = 1;
};

using MakeAssembly = std::unique_ptr<AssemblyMethod> (*)(const AssemblyTask& task,
                                                         Contribution contribution,
                                                         const AssemblyTeam& team);

/// A row of the table of methods.
struct AssemblyInfo {
  std::string_view name;
  Sharing sharing;
  /// Whether it is for a matrix of nonzeros alone.
  enum class Storages { both, csr } storages;
  /// What of operators/ works like this; empty: nothing does.
  std::string_view in_operators;
  /// Whether it needs AssemblyTeam::add_together.
  enum class Needs { nothing, transactions } needs;
  /// Null: it is not for CPUs.
  MakeAssembly make;
  /// Empty: it is not for GPUs.
  std::optional<DeviceAssemblyWay> on_gpu = {};
};

[[nodiscard]] const std::vector<AssemblyInfo>& assembly_table();

}  // namespace tessera
