// A Transfer moves vectors between two levels of a multigrid hierarchy.
#pragma once

#include <cstdint>

#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The prolongation P from a coarser space to a finer one, and its transpose.
///
/// It may own scratch memory, so that one call must have returned before the next one begins. The
/// program ends (check.hpp) if a call breaks this rule, if the sizes of the vectors are not
/// coarse_size() and fine_size(), or if one vector is passed as both.
template <class T, class Space>
class Transfer {
 public:
  virtual ~Transfer() = default;

  virtual std::int64_t coarse_size() const = 0;
  virtual std::int64_t fine_size() const = 0;
  /// coarse = P^T fine.
  void restrict_to_coarse(const Vector<T, Space>& fine, Vector<T, Space>& coarse) const {
    const OneUseAtATime::Use use = checked(coarse, fine);
    do_restrict_to_coarse(fine, coarse);
  }
  /// fine += P coarse.
  void add_prolonged(const Vector<T, Space>& coarse, Vector<T, Space>& fine) const {
    const OneUseAtATime::Use use = checked(coarse, fine);
    do_add_prolonged(coarse, fine);
  }
  /// Memory that the transfer holds.
  virtual std::int64_t bytes() const = 0;

  /// The work of the two functions, which have checked the vectors; call those instead.
  virtual void do_restrict_to_coarse(const Vector<T, Space>& fine,
                                     Vector<T, Space>& coarse) const = 0;
  virtual void do_add_prolonged(const Vector<T, Space>& coarse, Vector<T, Space>& fine) const = 0;

 private:
  OneUseAtATime::Use checked(const Vector<T, Space>& coarse, const Vector<T, Space>& fine) const {
    TESSERA_CHECK(coarse.size() == coarse_size());
    TESSERA_CHECK(fine.size() == fine_size());
    TESSERA_CHECK(&coarse != &fine);
    return OneUseAtATime::Use(guard_);
  }

  mutable OneUseAtATime guard_;
};

}  // namespace tessera
