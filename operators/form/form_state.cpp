// This file takes states of the host to coarser spaces.
#include "operators/form/form_state.hpp"

#include "mesh/coarsening.hpp"

namespace tessera {

std::shared_ptr<const FormState> HostState::coarsened(const Discretization& fine,
                                                      const Discretization& coarse) const {
  return std::make_shared<const HostState>(coarsen(fine, data(), coarse));
}

}  // namespace tessera
