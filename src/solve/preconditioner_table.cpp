// The rows of the table of preconditioners.
#include "src/solve/preconditioner_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "solvers/configuration.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/preconditioner_choice.hpp"
#include "src/parameters/solver_keys.hpp"
#include "src/solve/preconditioning_assembly.hpp"

namespace tessera {
namespace {

// The makers of a function template for both precisions and, where there is a GPU, both spaces.
#define TESSERA_MAKERS(function)                                                \
  [] {                                                                          \
    PreconditionerMakers makers{function<double, Host>, function<float, Host>}; \
    if constexpr (kHasCuda) {                                                   \
      makers.device_double = function<double, Device>;                          \
      makers.device_float = function<float, Device>;                            \
    }                                                                           \
    return makers;                                                              \
  }()

std::vector<PreconditionerInfo>& table() {
  static std::vector<PreconditionerInfo> rows = {
      {.name = kNoPreconditioner,
       .summary = "plain conjugate gradients",
       .kind = PreconditionerKind::none,
       .make = TESSERA_MAKERS(make_none)},
      {.name = "jacobi",
       .summary = "the operator's diagonal, computed without assembling it",
       .kind = PreconditionerKind::diagonal,
       .bytes = jacobi_bytes,
       .make = TESSERA_MAKERS(make_jacobi)},
      {.name = kChebyshev,
       .summary = "a polynomial in the operator, scaled by its diagonal",
       .add_keys = add_chebyshev_keys,
       .bytes = chebyshev_bytes,
       .make = TESSERA_MAKERS(make_chebyshev)},
      {.name = kMultigrid,
       .summary = "a V-cycle on coarser meshes and lower degrees; iterations do not grow",
       .why_not = why_not_multigrid,
       .add_keys = add_multigrid_keys,
       .bytes = multigrid_bytes,
       .host_bytes = multigrid_host_bytes,
       .make = TESSERA_MAKERS(make_multigrid_preconditioner)},
      {.name = kFastDiagonalization,
       .summary = "the inverse of the nearest separable operator, by dense products: on "
                  "axis-aligned meshes with separable coefficient the solution itself",
       .why_not = why_not_inverse,
       .reason = "it is the inverse of the operator",
       .bytes = fast_diagonalization_bytes,
       .host_bytes = fast_diagonalization_host_bytes,
       .make = TESSERA_MAKERS(make_fast_diagonalization_preconditioner)},
      {.name = kBlockJacobi,
       .summary = "sweeps within blocks of nodes, of the assembled matrix",
       .add_keys = add_block_jacobi_keys,
       .bytes = synchronous_block_bytes,
       .make = TESSERA_MAKERS(make_synchronous_blocks)},
      {.name = kBlockAsynchronousJacobi,
       .summary = "the same without waiting for other blocks; for flexible-cg, "
                  "flexible-gmres and richardson, another result in every run",
       .calls = MapOfCalls::another,
       .bytes = asynchronous_block_bytes,
       .make = TESSERA_MAKERS(make_asynchronous_blocks)},
  };
  return rows;
}

#undef TESSERA_MAKERS

}  // namespace

std::span<const PreconditionerInfo> preconditioner_table() { return table(); }

void add_preconditioner(const PreconditionerInfo& preconditioner) {
  table().push_back(preconditioner);
}

const PreconditionerInfo& preconditioner_row(std::string_view name) {
  const auto row = std::find_if(table().begin(), table().end(),
                                [&](const PreconditionerInfo& info) { return info.name == name; });
  if (row == table().end()) {
    throw std::logic_error("no preconditioner is named " + std::string(name));
  }
  return *row;
}

std::vector<PreconditionerName> preconditioner_names() {
  std::vector<PreconditionerName> names;
  names.reserve(table().size());
  for (const PreconditionerInfo& row : table()) {
    names.push_back({std::string(row.name), row.calls, row.add_keys});
  }
  return names;
}

}  // namespace tessera
