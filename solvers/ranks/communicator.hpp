// A Communicator is what ranks, which compute one problem together, tell each other by.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera {

/// Bytes to one rank, and as many bytes as that one sends here.
struct Message {
  int rank;
  std::span<const std::byte> send;
  std::span<std::byte> receive;
};

/// What all ranks agreed on at the end of a stage: the largest code, the lowest rank that has it,
/// and its message. Code 0 is success.
struct Agreement {
  int code = 0;
  int rank = 0;
  std::string message;
};

/// The ranks of a problem, seen by one of them. Except for exchange(), which both sides of every
/// message call, each function is called by all ranks in the same order. The objects are used by
/// one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// 0 <= rank() < size().
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// values_k = sum over ranks of values_k, added in the order of ranks: the same bits on all ranks
  /// and in every run.
  void sum(std::span<double> values) const;
  double sum(double value) const;
  /// values_k = the smallest or largest of all ranks' values_k; NaN if there is a NaN.
  void min(std::span<double> values) const;
  void max(std::span<double> values) const;
  /// Whether it is so on one rank at least.
  bool any(bool value) const;

  /// bytes = those of rank `root`; all ranks give spans of one length.
  void broadcast(std::span<std::byte> bytes, int root = 0) const;
  /// The text of rank `root`, of any length.
  std::string broadcast(const std::string& text, int root = 0) const;
  /// all = the bytes of rank 0, of rank 1, ...
  /// @param mine of the same length on all ranks
  /// @param all size() times as long
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const;
  /// A value of every rank, in the order of ranks.
  template <class Value>
  requires std::is_trivially_copyable_v<Value> std::vector<Value> all_gather(const Value& value)
  const {
    std::vector<Value> values(static_cast<std::size_t>(size_));
    all_gather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(values)));
    return values;
  }
  /// Sends and receives all messages, each to another rank; each rank that is named calls this,
  /// too, and names this one. Returns when all has arrived.
  void exchange(std::span<const Message> messages) const;
  /// Returns when all ranks have called it.
  void barrier() const;

  /// Ends a stage that may have failed on some ranks: all learn the worst code, and its message.
  Agreement agree(int code, const std::string& message) const;

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}

 private:
  // The work of the functions above where there are several ranks; messages are not empty.
  virtual void do_broadcast(std::span<std::byte> bytes, int root) const = 0;
  virtual void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const = 0;
  virtual void do_exchange(std::span<const Message> messages) const = 0;
  virtual void do_barrier() const = 0;

  // values_k = combine over ranks.
  template <class Combine>
  void reduce(std::span<double> values, Combine&& combine) const;

  int rank_;
  int size_;
};

/// The only rank of a problem: all functions return at once.
const Communicator& single_rank();

}  // namespace tessera
