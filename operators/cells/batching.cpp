// Batches of cells for SIMD vectors and threads.
#include "operators/cells/batching.hpp"

#include <omp.h>

#include "mesh/lanes/padded_cells.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

namespace {

int lanes_of(const FormShape& shape) {
  return static_cast<int>(static_cast<Index>(kSimdBytes) / shape.value_bytes);
}

}  // namespace

Index batched_cells(const FormShape& shape) {
  return padded_cells(shape.mesh, lanes_of(shape),
                      cell_working_set(shape.lattice, shape.value_bytes), omp_get_max_threads());
}

IndexTriple brick_cells(const FormShape& shape) {
  return brick_cells(shape.mesh, lanes_of(shape),
                     cell_working_set(shape.lattice, shape.value_bytes), omp_get_max_threads());
}

template <class T>
std::shared_ptr<const CellBatches> make_batches(const Discretization& discretization) {
  return std::make_shared<const CellBatches>(discretization.mesh, kLanes<T>,
                                             cell_working_set(discretization.lattice, sizeof(T)),
                                             omp_get_max_threads());
}

template std::shared_ptr<const CellBatches> make_batches<double>(const Discretization&);
template std::shared_ptr<const CellBatches> make_batches<float>(const Discretization&);

}  // namespace tessera
