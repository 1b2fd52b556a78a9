// A DeviceState is the u at which a form is taken, in GPU memory.
#pragma once

#include "operators/form/bilinear_form.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// The state of a form in GPU memory, where the form depends on u.
class DeviceState {
 public:
  /// @throws DeviceError
  explicit DeviceState(const BilinearForm& form)
      : values_(form.depends_on_u() && form.state != nullptr
                    ? static_cast<Index>(form.state->size())
                    : 0) {
    if (values_.size() > 0) copy_to_device(form.state->data(), values_.bytes(), values_.data());
  }
  /// At the nodes; null where there is none.
  const double* data() const { return values_.size() > 0 ? values_.data() : nullptr; }

 private:
  DeviceArray<double> values_;
};

}  // namespace tessera
