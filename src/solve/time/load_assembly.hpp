// This function assembles a load in the memory of steps.
#pragma once

#include <type_traits>
#include <vector>

#include "operators/load/device_load.hpp"
#include "operators/load/load_vector.hpp"

namespace tessera {

/// As assemble_load(), into b, which is made where it is empty: on the GPU as far as
/// assemble_device_load() can. @throws as these
template <class Space>
void assemble_load_in(const BilinearForm& form, const ScalarField& source,
                      const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                      Vector<double, Space>& b) {
  if constexpr (std::is_same_v<Space, Host>) {
    if (b.size() == 0) b = HostVector<double>(form.layout());
    assemble_load(form, source, fluxes, g, b);
  } else {
    if (assemble_device_load(form, source, fluxes, g, b)) return;
    HostVector<double> on_host(form.layout());
    assemble_load(form, source, fluxes, g, on_host);
    if (b.size() == 0) b = DeviceVector<double>(form.layout());
    copy(on_host, b);
  }
}

}  // namespace tessera
