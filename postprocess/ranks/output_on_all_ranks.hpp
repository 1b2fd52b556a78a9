// This function ends a stage of output that has to go well on all ranks.
#pragma once

#include <type_traits>
#include <utility>

#include "operators/form/on_all_ranks.hpp"

namespace tessera {

/// Takes an OutputError to other ranks as it is.
const ErrorCarrier& output_errors();

/// As on_all_ranks(), of work that writes files: all ranks throw the OutputError of one.
template <class Work>
auto output_on_all_ranks(const Communicator& ranks, Work&& work) -> std::invoke_result_t<Work> {
  return on_all_ranks(ranks, std::forward<Work>(work), &output_errors());
}

}  // namespace tessera
