// This file gathers what ranks have on their GPUs.
#include <algorithm>

#include "operators/ranks/whole_sum.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/entry_loop.cuh"

namespace tessera {

template <class T>
WholeSum<T, Device>::WholeSum(const Communicator& ranks,
                              std::shared_ptr<const DeviceCarrier> carrier,
                              const NodesInWhole& nodes)
    : carrier_(std::move(carrier)),
      whole_(nodes.whole().nodes()),
      box_{nodes.whole().node_position(nodes.first_in_whole()), nodes.lattice().nodes()} {
  const std::vector<BoxInWhole> boxes = ranks.all_gather(box_);
  for (const BoxInWhole& box : boxes) max_nodes_ = std::max(max_nodes_, box.nodes.size());
  boxes_ = DeviceArray<BoxInWhole>(boxes);
  if (ranks.size() == 1) return;
  TESSERA_CHECK(carrier_ != nullptr);
  sent_ = DeviceArray<T>(max_nodes_);
  // What lies behind a smaller box is sent as well.
  zero_on_device(sent_.data(), sent_.bytes());
  gathered_ = DeviceArray<T>(max_nodes_ * ranks.size());
}

template <class T>
void WholeSum<T, Device>::sum(const DeviceVector<T>& box, DeviceVector<T>& whole) const {
  TESSERA_CHECK(box.size() == box_size() && whole.size() == whole_size());
  const T* gathered = box.data();
  if (sent_.size() > 0) {
    enqueue_copy(sent_.data(), box.data(), static_cast<std::size_t>(box.size()) * sizeof(T),
                 cudaMemcpyDeviceToDevice, "copying a vector on the GPU");
    carrier_->all_gather(sent_.data(), sent_.bytes(), gathered_.data());
    gathered = gathered_.data();
  }
  const IndexBox nodes = whole_;
  const BoxInWhole* const boxes = boxes_.data();
  const int count = static_cast<int>(boxes_.size());
  const Index max_nodes = max_nodes_;
  T* const values = whole.data();
  for_each_entry(whole.size(), "adding what ranks have", [=] __device__(Index i) {
    const IndexTriple at = nodes.position(i);
    double sum = 0.0;
    for (int rank = 0; rank < count; ++rank) {
      const BoxInWhole& of_rank = boxes[rank];
      IndexTriple within{};
      bool is_inside = true;
      for (int d = 0; d < 3; ++d) {
        within[d] = at[d] - of_rank.first[d];
        is_inside = is_inside && within[d] >= 0 && within[d] < of_rank.nodes.extents[d];
      }
      if (!is_inside) continue;
      sum += static_cast<double>(gathered[rank * max_nodes + of_rank.nodes.index(within)]);
    }
    values[i] = static_cast<T>(sum);
  });
}

template <class T>
void WholeSum<T, Device>::take(const DeviceVector<T>& whole, DeviceVector<T>& box) const {
  TESSERA_CHECK(box.size() == box_size() && whole.size() == whole_size());
  const IndexBox nodes = whole_;
  const BoxInWhole mine = box_;
  const T* const from = whole.data();
  T* const to = box.data();
  for_each_entry(box.size(), "taking a rank's part", [=] __device__(Index i) {
    IndexTriple at = mine.nodes.position(i);
    for (int d = 0; d < 3; ++d) at[d] += mine.first[d];
    to[i] = from[nodes.index(at)];
  });
}

template class WholeSum<double, Device>;
template class WholeSum<float, Device>;

}  // namespace tessera
