// A Relaxation is a fixed-point iteration that updates blocks of rows in some order.
#pragma once

#include <cmath>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "postprocess/timing/clock.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/preconditioners/ordered_sweeps.hpp"
#include "src/studies/update_order/assembled_system.hpp"
#include "src/studies/update_order/relaxation_orders.hpp"

namespace tessera {

/// x of A x = b, from x = 0 on.
template <class Space>
class Relaxation {
 public:
  /// @param system is referred to @param b is not zero
  Relaxation(const AssembledSystem<Space>& system, const HostVector<double>& b)
      : matrix_(*system.matrix),
        rows_(system.jacobi->rows()),
        sweep_(system.jacobi->sweep()),
        b_(b.size()),
        x_(b.size()),
        other_(b.size()),
        norm_of_b_(norm(b)) {
    copy(b, b_);
  }

  /// x = 0.
  void start() { fill(x_, 0.0); }

  /// Does so many outer sweeps. @returns their seconds @param random of
  /// RelaxationOrder::queue_random
  double relax(RelaxationOrder order, int sweeps, std::mt19937_64& random) {
    Queue queue;
    if (has_given_queue(order)) queue = Queue(queued_blocks(order, blocks(), sweeps, random));
    synchronize<Space>();
    const double start = seconds_now();
    switch (order) {
      case RelaxationOrder::queue:
        relax_asynchronously(rows_, sweep_, sweeps, b_, x_);
        break;
      case RelaxationOrder::queue_reversed:
      case RelaxationOrder::queue_random:
        relax_in_order(rows_, sweep_, queue, QueueWorkers::all, b_, x_);
        break;
      case RelaxationOrder::sequential:
        relax_in_order(rows_, sweep_, queue, QueueWorkers::one, b_, x_);
        break;
      case RelaxationOrder::hardware:
        for (int sweep = 0; sweep < sweeps; ++sweep) relax_in_place(rows_, sweep_, b_, x_);
        break;
      case RelaxationOrder::synchronous:
        for (int sweep = 0; sweep < sweeps; ++sweep) {
          tessera::relax(rows_, sweep_, b_, x_, other_);
          std::swap(x_, other_);
        }
        break;
    }
    synchronize<Space>();
    return seconds_now() - start;
  }

  /// ||b - A x|| / ||b||.
  [[nodiscard]] double residual() {
    matrix_.apply(x_, other_);
    aypx(b_, -1.0, other_);
    return std::sqrt(dot(other_, other_)) / norm_of_b_;
  }

  [[nodiscard]] const Vector<double, Space>& solution() const { return x_; }

 private:
  using Queue = std::conditional_t<std::is_same_v<Space, Host>, std::vector<std::int32_t>,
                                   DeviceArray<std::int32_t>>;

  static bool has_given_queue(RelaxationOrder order) {
    return order == RelaxationOrder::queue_reversed || order == RelaxationOrder::queue_random ||
           order == RelaxationOrder::sequential;
  }
  [[nodiscard]] Index blocks() const {
    if constexpr (std::is_same_v<Space, Host>) {
      return rows_.blocks.count();
    } else {
      return rows_.block_count;
    }
  }

  const LinearOperator<double, Space>& matrix_;
  const BlockRows<double, Space>& rows_;
  BlockSweep sweep_;
  Vector<double, Space> b_;
  Vector<double, Space> x_;
  Vector<double, Space> other_;
  double norm_of_b_;
};

}  // namespace tessera
