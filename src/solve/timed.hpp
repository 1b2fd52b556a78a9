// These wrappers time the applications of operators and preconditioners.
#pragma once

#include "postprocess/timing/timers.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// An operator whose applications, fused ones as well, are timed as the part "apply". Solvers do
/// the same with it as with the operator itself.
template <class T, class Space>
class TimedOperator final : public LinearOperator<T, Space>, public FusedOperations<T, Space> {
 public:
  using V = Vector<T, Space>;

  TimedOperator(const LinearOperator<T, Space>& inner, TimerTree& timers)
      : inner_(inner), timers_(timers) {}

  std::int64_t size() const override { return inner_.size(); }
  VectorLayout layout() const override { return inner_.layout(); }
  std::string name() const override { return inner_.name(); }
  void do_apply(const V& x, V& y) const override {
    const auto scope = timers_.scope("apply");
    inner_.apply(x, y);
  }
  void do_diagonal(V& d) const override { inner_.diagonal(d); }
  Cost cost() const override { return inner_.cost(); }
  std::int64_t bytes() const override { return inner_.bytes(); }
  const FusedOperations<T, Space>* fused() const override {
    return inner_.fused() != nullptr ? this : nullptr;
  }

  void do_apply_dot(const V& x, V& y, double* sums) const override {
    const auto scope = timers_.scope("apply");
    inner_.fused()->apply_dot(x, y, sums);
  }
  bool takes_sums_along() const override { return inner_.fused()->takes_sums_along(); }
  void do_apply_dot_and_sum(const V& x, V& y, const double* mine, double* sums) const override {
    const auto scope = timers_.scope("apply");
    inner_.fused()->apply_dot_and_sum(x, y, mine, sums);
  }
  void do_residual(const V& b, const V& x, V& r, double* rr) const override {
    const auto scope = timers_.scope("apply");
    inner_.fused()->residual(b, x, r, rr);
  }

 private:
  const LinearOperator<T, Space>& inner_;
  TimerTree& timers_;
};

/// A preconditioner whose applications are timed as the part "precondition". A diagonal one stays
/// one: solvers multiply by it in passing, which is part of their own time.
template <class T, class Space>
class TimedPreconditioner final : public Preconditioner<T, Space>,
                                  public SinglePreconditioner<Space> {
 public:
  TimedPreconditioner(const Preconditioner<T, Space>& inner, TimerTree& timers)
      : inner_(inner), timers_(timers) {}

  std::int64_t size() const override { return inner_.size(); }
  void do_apply(const Vector<T, Space>& r, Vector<T, Space>& z) const override {
    const auto scope = timers_.scope("precondition");
    inner_.apply(r, z);
  }
  const Vector<T, Space>* do_as_diagonal() const override { return inner_.as_diagonal(); }
  const SinglePreconditioner<Space>* as_single() const override {
    return inner_.as_single() != nullptr ? this : nullptr;
  }
  const Vector<float, Space>& apply_in_single(const Vector<double, Space>& r) const override {
    const auto scope = timers_.scope("precondition");
    return inner_.as_single()->apply_in_single(r);
  }
  double scale() const override { return inner_.as_single()->scale(); }

 private:
  const Preconditioner<T, Space>& inner_;
  TimerTree& timers_;
};

}  // namespace tessera
