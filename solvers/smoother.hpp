#pragma once

#include <cstdint>

#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// A few steps of a stationary iteration for A x = b: x becomes x + M (b - A x), where M removes
/// the fast errors at least.
///
/// It may own scratch memory: a call before the last has returned, vectors of another size than
/// size(), and b that is x end the program (check.hpp).
template <class T, class Space>
class Smoother {
 public:
  using V = Vector<T, Space>;

  virtual ~Smoother() = default;

  /// Of the vectors; that of A.
  virtual std::int64_t size() const = 0;
  /// x = M b, the steps from zero; what x held before does not matter.
  void smooth_from_zero(const V& b, V& x) const {
    const OneUseAtATime::Use use = checked(b, x);
    do_smooth_from_zero(b, x);
  }
  /// x = x + M (b - A x), the steps from what x holds.
  void smooth(const V& b, V& x) const {
    const OneUseAtATime::Use use = checked(b, x);
    do_smooth(b, x);
  }

  /// What the two do with vectors that were checked; call those instead.
  virtual void do_smooth_from_zero(const V& b, V& x) const = 0;
  virtual void do_smooth(const V& b, V& x) const = 0;

 private:
  OneUseAtATime::Use checked(const V& b, const V& x) const {
    TESSERA_CHECK(b.size() == size());
    TESSERA_CHECK(x.size() == size());
    TESSERA_CHECK(&b != &x);
    return OneUseAtATime::Use(guard_);
  }

  mutable OneUseAtATime guard_;
};

}  // namespace tessera
