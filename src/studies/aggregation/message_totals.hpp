// What is known of all messages together: whether each came once.
#pragma once

#include <string>

namespace tessera {

/// Number, sum and exclusive or of the numbers that messages carry.
struct MessageTotals {
  unsigned long long count = 0;
  unsigned long long sum = 0;
  unsigned long long exclusive_or = 0;
  /// Of those that came: messages that nobody sent; of those sent: numbers that did not come once.
  unsigned long long strange = 0;
};

/// What came and what was sent.
struct MessageVerdict {
  MessageTotals came;
  MessageTotals sent;

  bool is_right() const {
    return came.count == sent.count && came.sum == sent.sum &&
           came.exclusive_or == sent.exclusive_or && came.strange == 0 && sent.strange == 0;
  }
  /// What is wrong; empty if nothing is.
  std::string text() const;
};

}  // namespace tessera
