// Bricks in reverse order, by one thread.
#include "tests/extension/backward_scatter.hpp"

#include <algorithm>

namespace tessera::testing {
namespace {

template <class T>
class Backward final : public Scatter<T> {
 public:
  explicit Backward(const CellBatches& batches) : batches_(&batches) {}

  std::string_view name() const override { return "backward"; }
  void run(const BrickFunction<T>& add_brick, HostVector<T>& y) const override {
    std::fill_n(y.data(), y.size(), T{0});
    const auto bricks = batches_->bricks();
    for (auto brick = bricks.rbegin(); brick != bricks.rend(); ++brick) {
      add_brick(*brick, {y.data(), 0, AddMode::plain});
    }
  }

 private:
  const CellBatches* batches_;
};

template <class T>
std::unique_ptr<Scatter<T>> make(const CellBatches& batches, const NodeLattice&) {
  return std::make_unique<Backward<T>>(batches);
}

}  // namespace

ScatterInfo backward_scatter() {
  return {.name = "backward",
          .summary = "one thread adds cell after cell, the last one first",
          .deterministic = Deterministic::yes,
          .on_cpu = {make<double>, make<float>}};
}

}  // namespace tessera::testing
