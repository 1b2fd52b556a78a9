// These functions assemble a right-hand side, and try fields at nodes, on the GPU.
#pragma once

#include <optional>
#include <vector>

#include "operators/load/load_vector.hpp"

namespace tessera {

/// As assemble_load(), in GPU memory. The source is integrated there, and Dirichlet values lifted,
/// color after color of the cells; the loads of fluxes come from the host, face by face. The same
/// bits in every run. Nothing if the GPU cannot do it: the source is not constant and has no
/// program, depends on u, has one deeper than DeviceProgram::kShallow, or is not finite at a point,
/// of which the host tells more, or values are to be lifted and coefficient or reaction are no
/// DeviceFields or depend on u; of ranks all have something or nothing.
/// @throws BadFieldValue if a flux is not finite; DeviceError; ranks together
std::optional<DeviceVector<double>> assemble_device_load(const BilinearForm& form,
                                                         const ScalarField& source,
                                                         const std::vector<FluxTerm>& fluxes,
                                                         const DirichletValues& g);

/// The same into b, which is made where it is empty. Returns whether the GPU could do it; b is lost
/// otherwise.
bool assemble_device_load(const BilinearForm& form, const ScalarField& source,
                          const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                          DeviceVector<double>& b);

/// b_i = 0 in the rows that are constrained. @throws DeviceError
void clear_constrained_rows(const BilinearForm& form, DeviceVector<double>& b);

/// Whether the GPU finds the field finite at all nodes; no where the field has no program that the
/// GPU takes, as above. @throws DeviceError
bool is_finite_at_nodes(const Discretization& discretization, const ScalarField& field);

/// Bytes that the load's kernel keeps of a cell: two tensors, or positions of mapped cells and as
/// much again. @param points along an axis, of which there are p + 1 or more
constexpr Index load_cell_bytes(int dimension, int points, bool is_mapped) {
  const int tensors = 2 * (is_mapped ? dimension : 1);
  return tensors * power(points, dimension) * static_cast<Index>(sizeof(double));
}

}  // namespace tessera
