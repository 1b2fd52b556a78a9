// This file says what is wrong with messages.
#include "src/studies/aggregation/message_totals.hpp"

#include <fmt/format.h>

namespace tessera {

std::string MessageVerdict::text() const {
  if (is_right()) return {};
  return fmt::format("of {} messages {} came, {} of them strange, and {} numbers not once",
                     sent.count, came.count + came.strange, came.strange, sent.strange);
}

}  // namespace tessera
