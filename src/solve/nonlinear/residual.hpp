// A ResidualIn computes residuals of non-linear problems where their vectors are.
#pragma once

#include <type_traits>
#include <vector>

#include "operators/load/load_vector.hpp"
#include "operators/nonlinear/device_residual.hpp"

namespace tessera {

/// assemble_residual(), as DeviceResidual has it.
class HostResidual {
 public:
  explicit HostResidual(const Discretization&) {}
  void compute(const BilinearForm& form, const ScalarField& source,
               const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
               HostVector<double>& r) const {
    assemble_residual(form, source, fluxes, u, r);
  }
};

template <class Space>
using ResidualIn = std::conditional_t<std::is_same_v<Space, Host>, HostResidual, DeviceResidual>;

}  // namespace tessera
