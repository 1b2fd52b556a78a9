// A FormState is the u at which a form is taken.
#pragma once

#include <memory>
#include <utility>

#include "mesh/discretization.hpp"
#include "mesh/lanes/host_array.hpp"

namespace tessera {

/// u at the nodes, where k and c of a form depend on it.
class FormState {
 public:
  FormState() = default;
  FormState(const FormState&) = delete;
  FormState& operator=(const FormState&) = delete;
  virtual ~FormState() = default;

  virtual Index size() const = 0;
  /// On the host. The thread that made the state asks first: it may have to be copied there.
  virtual const double* data() const = 0;
  /// In GPU memory; null where it is on the host alone.
  virtual const double* on_device() const { return nullptr; }
  /// u at the nodes of a coarser space that is made of the form's, in the same memory.
  virtual std::shared_ptr<const FormState> coarsened(const Discretization& fine,
                                                     const Discretization& coarse) const = 0;
};

/// A state on the host.
class HostState final : public FormState {
 public:
  explicit HostState(HostArray<double> values) : values_(std::move(values)) {}

  Index size() const override { return static_cast<Index>(values_.size()); }
  const double* data() const override { return values_.data(); }
  std::shared_ptr<const FormState> coarsened(const Discretization& fine,
                                             const Discretization& coarse) const override;
  HostArray<double>& values() { return values_; }

 private:
  HostArray<double> values_;
};

}  // namespace tessera
