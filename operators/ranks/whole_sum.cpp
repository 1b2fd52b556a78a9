// This file gathers what ranks have on the host.
#include "operators/ranks/whole_sum.hpp"

#include <algorithm>

namespace tessera {

template <class T>
void WholeSum<T, Host>::sum(const HostVector<T>& box, HostVector<T>& whole) const {
  TESSERA_CHECK(box.size() == box_size() && whole.size() == whole_size());
  std::fill(sums_.begin(), sums_.end(), 0.0);
  nodes_.copy_to_whole(box.data(), sums_.data());
  ranks_.sum(sums_);
  for (Index i = 0; i < whole.size(); ++i) whole[i] = static_cast<T>(sums_[i]);
}

template <class T>
void WholeSum<T, Host>::take(const HostVector<T>& whole, HostVector<T>& box) const {
  TESSERA_CHECK(box.size() == box_size() && whole.size() == whole_size());
  nodes_.copy_to_part(whole.data(), box.data());
}

template class WholeSum<double, Host>;
template class WholeSum<float, Host>;

}  // namespace tessera
