// A Smoother does a few steps of a stationary iteration.
#pragma once

#include <cstdint>

#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// A few steps of a stationary iteration for A x = b: x becomes x + M (b - A x), where M removes at
/// least the fast errors.
///
/// It may own scratch memory, so that one call must have returned before the next one begins. The
/// program ends (check.hpp) if a call breaks this rule, if the size of a vector is not size(), or
/// if b is x.
template <class T, class Space>
class Smoother {
 public:
  using V = Vector<T, Space>;

  virtual ~Smoother() = default;

  /// The size of the vectors, which is that of A.
  virtual std::int64_t size() const = 0;
  /// x = M b: the steps start from zero, whatever x held before.
  void smooth_from_zero(const V& b, V& x) const {
    const OneUseAtATime::Use use = checked(b, x);
    do_smooth_from_zero(b, x);
  }
  /// x = x + M (b - A x): the steps start from what x holds.
  void smooth(const V& b, V& x) const {
    const OneUseAtATime::Use use = checked(b, x);
    do_smooth(b, x);
  }

  /// The work of the two functions, which have checked the vectors; call those instead.
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
