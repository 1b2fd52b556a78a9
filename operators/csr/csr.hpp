// The strategy csr is the assembled matrix in compressed sparse rows.
#pragma once

#include <memory>

#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "operators/csr/size.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {

/// An operator that is an assembled matrix whose rows can be read.
template <class T>
class CsrMatrix : public LinearOperator<T, Host>, public SparseRows<T> {};

/// The assembled matrix in compressed sparse rows (Eigen, row-major).
///
/// On a lattice the row lengths and every entry's place are known beforehand: rows are counted,
/// summed and filled in parallel, and cells add into them brick color by brick color; nothing is
/// sorted and no thread has a copy. Local matrices come from the tensor kernel.
/// @throws InvertedCell, BadFieldValue, std::bad_alloc
template <class T>
std::unique_ptr<CsrMatrix<T>> make_csr_matrix(const BilinearForm& form);

}  // namespace tessera
