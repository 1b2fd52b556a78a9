// These are the u at which a form is taken, in GPU memory.
#pragma once

#include <mutex>
#include <utility>

#include "operators/form/bilinear_form.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// A state in GPU memory. The host has it once it asks.
class StateOnDevice final : public FormState {
 public:
  explicit StateOnDevice(DeviceArray<double> values) : values_(std::move(values)) {}
  /// The values of u. @throws DeviceError
  explicit StateOnDevice(const DeviceVector<double>& u) : values_(u.size()) { set(u); }

  /// Nobody else may be using it. @throws DeviceError
  void set(const DeviceVector<double>& u);
  Index size() const override { return values_.size(); }
  /// @throws DeviceError
  const double* data() const override;
  const double* on_device() const override { return values_.data(); }
  /// @throws DeviceError
  std::shared_ptr<const FormState> coarsened(const Discretization& fine,
                                             const Discretization& coarse) const override;

 private:
  DeviceArray<double> values_;
  mutable std::mutex guard_;
  mutable HostArray<double> on_host_;
  mutable bool is_on_host_ = false;
};

/// The state of a form in GPU memory, where the form depends on u: the form's own, or a copy.
class DeviceState {
 public:
  /// @param form whose state outlives this. @throws DeviceError
  explicit DeviceState(const BilinearForm& form);
  /// At the nodes; null where there is none.
  const double* data() const { return values_; }

 private:
  DeviceArray<double> copy_;
  const double* values_ = nullptr;
};

}  // namespace tessera
