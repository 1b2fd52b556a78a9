// The table of preconditioners: what is known of each, and what makes it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operators/form/kernel_info.hpp"
#include "solvers/errors.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {

template <class T, class Space>
using MakePreconditioner =
    PreconditionerSetup<T, Space> (*)(const PreconditionerTask<T, Space>& task);

/// What makes a preconditioner.
using PreconditionerMakers = Makers<MakePreconditioner>;

/// Bytes in a case, held and at most while it is made.
using PreconditionerBytes = OperatorBytes (*)(const CaseParameters& parameters);

/// One row of the table of preconditioners.
struct PreconditionerInfo {
  std::string_view name;
  std::string_view summary;
  PreconditionerKind kind = PreconditionerKind::general;
  /// Whether it is another map in every application.
  MapOfCalls calls = MapOfCalls::the_same;
  /// Why it is not the fastest in the case, in a user's words; empty if nothing speaks against it.
  /// Null: nothing ever does. For what choose_preconditioner() chooses from.
  std::string (*why_not)(const CaseParameters& parameters) = nullptr;
  /// Why it is taken before all others.
  std::string_view reason = {};
  /// Null: it has no keys, or those of another row.
  AddSolverKeys add_keys = nullptr;
  /// On the processor that it runs on, without z = M r; null: none.
  PreconditionerBytes bytes = nullptr;
  /// In the memory of the host beside those; null: none.
  PreconditionerBytes host_bytes = nullptr;
  PreconditionerMakers make = {};
};

/// All preconditioners, in the order of `tessera list`.
std::span<const PreconditionerInfo> preconditioner_table();

/// Adds a row to the table: for programs with preconditioners of their own, before they use it.
void add_preconditioner(const PreconditionerInfo& preconditioner);

/// The row of this name. It is valid until a preconditioner is added.
/// @throws std::logic_error if there is none
const PreconditionerInfo& preconditioner_row(std::string_view name);

/// Makes the preconditioner that the case names.
template <class T, class Space>
PreconditionerSetup<T, Space> make_preconditioner(const PreconditionerTask<T, Space>& task) {
  const std::string& name = task.parameters.solver.preconditioner;
  const auto make = preconditioner_row(name).make.template get<T, Space>();
  if (make == nullptr) {
    throw UnsuitableChoice(Choice::preconditioner, name + " does not run on this processor");
  }
  return make(task);
}

/// What solver.preconditioner may be.
std::vector<PreconditionerName> preconditioner_names();

}  // namespace tessera
