#pragma once

#include "postprocess/timers.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// An operator whose applications are timed as the part "apply".
template <class T, class Space>
class TimedOperator final : public LinearOperator<T, Space> {
 public:
  TimedOperator(const LinearOperator<T, Space>& inner, TimerTree& timers)
      : inner_(inner), timers_(timers) {}

  std::int64_t size() const override { return inner_.size(); }
  void apply(const Vector<T, Space>& x, Vector<T, Space>& y) const override {
    const auto scope = timers_.scope("apply");
    inner_.apply(x, y);
  }
  void diagonal(Vector<T, Space>& d) const override { inner_.diagonal(d); }
  Cost cost() const override { return inner_.cost(); }
  std::int64_t bytes() const override { return inner_.bytes(); }

 private:
  const LinearOperator<T, Space>& inner_;
  TimerTree& timers_;
};

/// A preconditioner whose applications are timed as the part "precondition".
template <class T, class Space>
class TimedPreconditioner final : public Preconditioner<T, Space> {
 public:
  TimedPreconditioner(const Preconditioner<T, Space>& inner, TimerTree& timers)
      : inner_(inner), timers_(timers) {}

  void apply(const Vector<T, Space>& r, Vector<T, Space>& z) const override {
    const auto scope = timers_.scope("precondition");
    inner_.apply(r, z);
  }

 private:
  const Preconditioner<T, Space>& inner_;
  TimerTree& timers_;
};

}  // namespace tessera
