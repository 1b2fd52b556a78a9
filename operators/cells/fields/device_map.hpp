// This function makes a mapped space on the GPU.
#pragma once

#include <array>
#include <optional>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"
#include "operators/cells/fields/device_program.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Whether the GPU can evaluate these components of a map: each is constant, or has a program that
/// a thread has room for.
inline bool is_map_for_gpu(const std::array<ScalarField, 3>& components, int dimension) {
  for (int d = 0; d < dimension; ++d) {
    if (shallow_program(components[d]) == nullptr) return false;
  }
  return true;
}

/// The space on a mapped mesh in its natural frame: as Mapping, check_digits(), natural_frame() and
/// to_frame() make it, but with the positions of the nodes evaluated in GPU memory, and kept there.
/// The host evaluates the few that it is asked for, and copies them when it is asked for all.
/// Nothing if the GPU cannot evaluate the map, or finds a position that is not finite or has too
/// few digits, of which the host tells more.
/// @param physical the mesh, in physical space, or what a rank has of it
/// @param ranks of which each has a part of the mesh: the frame is that of all of them, and they
///              make their spaces together, or none
/// @throws DeviceError, std::bad_alloc
std::optional<Discretization> make_mapped_on_device(const BoxMesh& physical, const Basis1D& basis,
                                                    const std::array<ScalarField, 3>& components,
                                                    const Communicator& ranks = single_rank());

}  // namespace tessera
