// A DistributedOperator applies a matrix that is a sum over ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "solvers/linear_operator.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {

/// A = sum over ranks r of R_r^T A_r R_r, seen by one rank: R_r takes the entries that rank r has,
/// and A_r is the rank's own operator, whatever it is. y = A_r x, then the planes that ranks share
/// are summed. x has the same bits on all ranks that have an entry, and so has y.
///
/// Rows that are left out of the planes, because they are the identity on every rank that has them,
/// stay as A_r gives them.
///
/// All ranks call its functions together. It has no fused operations of its own: sums over A_r x
/// are not those over A x (fused_sums.hpp).
template <class T, class Space>
class DistributedOperator : public LinearOperator<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param layout of the rank's vectors
  DistributedOperator(std::unique_ptr<LinearOperator<T, Space>> local, VectorLayout layout,
                      PlaneExchange<T, Space> exchange)
      : local_(std::move(local)), layout_(std::move(layout)), exchange_(std::move(exchange)) {
    TESSERA_CHECK(local_->size() == layout_.size);
  }

  std::int64_t size() const override { return layout_.size; }
  VectorLayout layout() const override { return layout_; }
  std::string name() const override { return local_->name(); }
  void do_apply(const V& x, V& y) const override {
    local_->apply(x, y);
    exchange_.add(y);
  }
  void do_diagonal(V& d) const override {
    local_->diagonal(d);
    exchange_.add(d);
  }
  /// That of the rank's own operator.
  Cost cost() const override { return local_->cost(); }
  std::int64_t bytes() const override { return local_->bytes() + exchange_.bytes(); }

 protected:
  /// The rank's own operator.
  LinearOperator<T, Space>& local() { return *local_; }
  const LinearOperator<T, Space>& local() const { return *local_; }
  const PlaneExchange<T, Space>& exchange() const { return exchange_; }

 private:
  std::unique_ptr<LinearOperator<T, Space>> local_;
  VectorLayout layout_;
  PlaneExchange<T, Space> exchange_;
};

}  // namespace tessera
