// This file gathers what ranks restrict, and takes what they prolongate.
#include "operators/ranks/gathering_transfer.hpp"

#include <algorithm>
#include <utility>

namespace tessera {

template <class T>
GatheringTransfer<T>::GatheringTransfer(std::unique_ptr<const Transfer<T, Host>> local,
                                        VectorLayout fine, const Communicator& ranks,
                                        const NodesInWhole& coarse)
    : local_(std::move(local)),
      ranks_(ranks),
      part_(coarse),
      summand_(std::move(fine)),
      coarse_part_(part_.lattice().size()),
      whole_(static_cast<std::size_t>(part_.whole().size())) {
  TESSERA_CHECK(local_->fine_size() == summand_.size());
  TESSERA_CHECK(local_->coarse_size() == coarse_part_.size());
}

template <class T>
void GatheringTransfer<T>::do_restrict_to_coarse(const HostVector<T>& fine,
                                                 HostVector<T>& coarse) const {
  copy(fine, summand_);
  clear_not_owned(summand_);
  local_->restrict_to_coarse(summand_, coarse_part_);
  std::fill(whole_.begin(), whole_.end(), 0.0);
  part_.copy_to_whole(coarse_part_.data(), whole_.data());
  ranks_.sum(whole_);
  for (Index i = 0; i < coarse.size(); ++i) coarse[i] = static_cast<T>(whole_[i]);
}

template <class T>
void GatheringTransfer<T>::do_add_prolonged(const HostVector<T>& coarse,
                                            HostVector<T>& fine) const {
  part_.copy_to_part(coarse.data(), coarse_part_.data());
  local_->add_prolonged(coarse_part_, fine);
}

template <class T>
std::int64_t GatheringTransfer<T>::bytes() const {
  return local_->bytes() +
         (summand_.size() + coarse_part_.size()) * static_cast<std::int64_t>(sizeof(T)) +
         static_cast<std::int64_t>(whole_.size() * sizeof(double));
}

template class GatheringTransfer<double>;
template class GatheringTransfer<float>;

}  // namespace tessera
