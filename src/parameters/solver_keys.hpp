// These functions declare the keys of [solver], for case files and studies alike.
#pragma once

#include <vector>

#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The keys of preconditioners, for their rows in the table of preconditioners.
void add_chebyshev_keys(Keys<SolverParameters>& keys);
void add_multigrid_keys(Keys<SolverParameters>& keys);
void add_block_jacobi_keys(Keys<SolverParameters>& keys);

/// Whose solver it is: a case names its preconditioner and its start, a study lists what it
/// measures.
enum class SolverOf { one_case, study };

/// The keys of the method and of all preconditioners.
Keys<SolverParameters> solver_keys(const std::vector<PreconditionerName>& preconditioners,
                                   SolverOf of);

}  // namespace tessera
