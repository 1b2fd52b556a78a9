// This file copies states between GPU and host, and takes them to coarser spaces.
#include "operators/cells/fields/device_state.hpp"

#include "mesh/coarsening.hpp"
#include "operators/cells/fields/device_interpolation.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/cuda_check.hpp"

namespace tessera {

void StateOnDevice::set(const DeviceVector<double>& u) {
  TESSERA_CHECK(u.size() == values_.size());
  enqueue_copy(values_.data(), u.data(), static_cast<std::size_t>(values_.bytes()),
               cudaMemcpyDeviceToDevice, "copying a state");
  is_on_host_ = false;
}

const double* StateOnDevice::data() const {
  const std::scoped_lock lock(guard_);
  if (!is_on_host_) {
    on_host_.resize(static_cast<std::size_t>(values_.size()));
    copy_to_host(values_.data(), values_.bytes(), on_host_.data());
    is_on_host_ = true;
  }
  return on_host_.data();
}

std::shared_ptr<const FormState> StateOnDevice::coarsened(const Discretization& fine,
                                                          const Discretization& coarse) const {
  const DeviceInterpolation interpolation(coarsening_matrices(fine, coarse), fine.lattice,
                                          coarse.lattice);
  return std::make_shared<const StateOnDevice>(interpolation.apply(values_.data()));
}

DeviceState::DeviceState(const BilinearForm& form) {
  if (!form.depends_on_u() || form.state == nullptr) return;
  values_ = form.state->on_device();
  if (values_ != nullptr) return;
  copy_ = DeviceArray<double>(form.state->size());
  copy_to_device(form.state->data(), copy_.bytes(), copy_.data());
  values_ = copy_.data();
}

}  // namespace tessera
