// A ResidualIn computes residuals of non-linear problems where their vectors are.
#pragma once

#include <type_traits>
#include <vector>

#include "operators/load/load_vector.hpp"
#include "operators/nonlinear/device_residual.hpp"
#include "solvers/check.hpp"

namespace tessera {

/// assemble_residual(), as DeviceResidual has it.
class HostResidual {
 public:
  explicit HostResidual(const Discretization& discretization)
      : size_(discretization.lattice.size()) {}
  void compute(const BilinearForm& form, const ScalarField& source,
               const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
               HostVector<double>& r) const {
    TESSERA_CHECK(u.size() == size_);
    assemble_residual(form, source, fluxes, u, r);
  }

 private:
  Index size_;
};

template <class Space>
using ResidualIn = std::conditional_t<std::is_same_v<Space, Host>, HostResidual, DeviceResidual>;

}  // namespace tessera
