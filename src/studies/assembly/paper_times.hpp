// These are the times of table II of the paper.
#pragma once

#include <optional>
#include <string_view>

namespace tessera {

/// Medians of the paper's machine, in milliseconds, for a full matrix of the mesh without
/// refinement: "serial", "transaction/entry", "atomic" or "lock-entry" with 1, 100 or 1000
/// operations on 1, 2, 4, 8 or 16 threads. No value for anything else.
[[nodiscard]] std::optional<double> paper_milliseconds(std::string_view variant, int operations,
                                                       int threads);

}  // namespace tessera
