// A DeviceResidual computes residuals of non-linear problems on the GPU.
#pragma once

#include <optional>
#include <vector>

#include "operators/cells/fields/cell_integrator.hpp"
#include "operators/form/device_robin_faces.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {

/// As assemble_residual(), in GPU memory, color after color of the cells: the same bits in every
/// run. Fluxes come from the host, where they have changed. The host does all of it where a field
/// is no DeviceField, or has a value that is not allowed, of which it tells more. Of a form of
/// which ranks have parts it is that of the whole; they call it together, and throw together.
class DeviceResidual {
 public:
  /// @param discretization that of all forms; outlives this. @throws DeviceError
  explicit DeviceResidual(const Discretization& discretization);

  /// @param form its Dirichlet faces are the same in all calls
  /// @throws as assemble_residual(), DeviceError
  void compute(const BilinearForm& form, const ScalarField& source,
               const std::vector<FluxTerm>& fluxes, const DeviceVector<double>& u,
               DeviceVector<double>& r);

 private:
  // r of this rank alone and with any constrained rows. Returns whether all values of fields are
  // allowed.
  bool compute_own(const BilinearForm& form, const ScalarField& source,
                   const std::vector<FluxTerm>& fluxes, const DeviceVector<double>& u,
                   DeviceVector<double>& r);
  bool compute_on_gpu(const BilinearForm& form, const ScalarField& source,
                      const std::vector<FluxTerm>& fluxes, const DeviceVector<double>& u,
                      DeviceVector<double>& r);
  void subtract_fluxes(const BilinearForm& form, const std::vector<FluxTerm>& fluxes,
                       DeviceVector<double>& r);
  void add_robin(const BilinearForm& form, const DeviceVector<double>& u, DeviceVector<double>& r);

  CellIntegrator integrator_;
  // Of the last fluxes and Robin terms.
  bool has_flux_loads_ = false;
  std::vector<FluxTerm> fluxes_;
  std::vector<DeviceFaceValues> flux_loads_;
  std::vector<RobinTerm> robin_terms_;
  std::vector<DeviceRobinFaces<double>> robin_;            // one, where there are terms
  std::optional<PlaneExchange<double, Device>> exchange_;  // of a rank's part
};

}  // namespace tessera
