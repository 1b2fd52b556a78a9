// A DeviceSystem is A x = b with vectors on the GPU, as all iterations see it.
#pragma once

#include "solvers/krylov/iteration_kernels.cuh"

namespace tessera {

/// A x = b with vectors on the GPU, as all iterations see it.
template <class T>
class DeviceSystem {
 public:
  using V = DeviceVector<T>;

  DeviceSystem(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m, const V& b,
               V& x)
      : a_(a), m_(m), b_(b), x_(x), kind_(kind_of(m)) {
    // Kernels take them without their sizes.
    TESSERA_CHECK(b.size() == a.size());
    TESSERA_CHECK(x.size() == a.size());
    TESSERA_CHECK(m == nullptr || m->size() == a.size());
  }

  Index size() const { return a_.size(); }
  /// n if the vector is needed, else 0: some vectors are for one kind of preconditioner only.
  Index size_if(bool needed) const { return needed ? size() : 0; }
  PreconditionerKind kind() const { return kind_; }
  const LinearOperator<T, Device>& a() const { return a_; }
  const Preconditioner<T, Device>& m() const { return *m_; }
  const V& b() const { return b_; }
  V& solution() { return x_; }
  T* x() { return x_.data(); }
  /// The entries of M if it is diagonal, else null.
  const T* diagonal() const {
    return kind_ == PreconditionerKind::diagonal ? m_->as_diagonal()->data() : nullptr;
  }

  /// Queues r = b - A x and the outputs that are asked for. @throws DeviceError
  void enqueue_residual(V& r, ResidualOutputs<T> outputs, IterationState* state) {
    a_.apply(x_, r);
    residual_from_product_kernel<<<reduction_blocks(size()), kReductionThreads, 0,
                                   device_stream()>>>(
        size(), b_.data(), diagonal(), r.data(), outputs, state, sums_.partial(), sums_.arrived());
    check_launch("residual of an iteration");
  }

  /// Computes p = u + beta p and s = A p, and returns whether p.Ap <= 0. It is called when p.Ap by
  /// recurrence is not positive. @throws DeviceError
  bool has_no_curvature(const V& u, double beta, V& p, V& s) {
    aypx_kernel<<<reduction_blocks(size()), kReductionThreads, 0, device_stream()>>>(
        size(), u.data(), static_cast<T>(beta), p.data());
    check_launch("direction of an iteration");
    a_.apply(p, s);
    return !(dot(p, s) > 0.0);
  }

 private:
  const LinearOperator<T, Device>& a_;
  const Preconditioner<T, Device>* m_;
  const V& b_;
  V& x_;
  PreconditionerKind kind_;
  ReductionBuffer sums_;
};

}  // namespace tessera
