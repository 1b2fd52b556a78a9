// This file finds the entries of ranks in chunks of the whole vector.
#include "solvers/ranks/whole_vector.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "solvers/check.hpp"

namespace tessera {
namespace {

// Which entries of the whole vector a rank has. Its entries are in the order of the whole's.
struct Box {
  WholeNumbers numbers;
  std::int64_t size;
};

// Goes through the entries of a box once, in their order.
class Cursor {
 public:
  explicit Cursor(const Box& box) : box_(box) {}

  /// Calls f(entry of the box, entry of the whole, count) for runs of entries up to `end` of the
  /// whole. @returns how many entries that were
  template <class F>
  std::int64_t advance(std::int64_t end, F&& f) {
    const std::int64_t start = next_;
    while (next_ < box_.size) {
      const std::int64_t whole = box_.numbers.of(next_);
      if (whole >= end) break;
      const std::int64_t of_row = box_.numbers.row_length - next_ % box_.numbers.row_length;
      const std::int64_t count = std::min(of_row, end - whole);
      f(next_, whole, count);
      next_ += count;
    }
    return next_ - start;
  }

 private:
  Box box_;
  std::int64_t next_ = 0;
};

// The way of a chunk to rank 0. What rank 0 sends back means nothing: messages go both ways.
void send_chunk(const Communicator& ranks, std::span<const double> values) {
  if (values.empty()) return;
  std::vector<double> answer(values.size());
  const Message message{0, std::as_bytes(values), std::as_writable_bytes(std::span(answer))};
  ranks.exchange({&message, 1});
}

void receive_chunk(const Communicator& ranks, int rank, std::span<double> values) {
  if (values.empty()) return;
  const std::vector<double> answer(values.size());
  const Message message{rank, std::as_bytes(std::span(answer)), std::as_writable_bytes(values)};
  ranks.exchange({&message, 1});
}

std::vector<Cursor> cursors_of_all(const VectorLayout& layout) {
  const SharedEntries& shared = *layout.shared;
  std::vector<Cursor> cursors;
  for (const Box& box : shared.ranks().all_gather(Box{shared.numbers(), layout.size})) {
    cursors.emplace_back(box);
  }
  return cursors;
}

// Those of a chunk, which one or several ranks have with the same bits.
void receive_whole_chunk(const Communicator& ranks, std::vector<Cursor>& cursors,
                         std::span<const double> x, std::int64_t first, std::span<double> values) {
  const std::int64_t end = first + static_cast<std::int64_t>(values.size());
  cursors[0].advance(end, [&](std::int64_t entry, std::int64_t whole, std::int64_t count) {
    std::copy_n(x.data() + entry, count, values.data() + (whole - first));
  });
  std::vector<double> received;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    Cursor ahead = cursors[rank];
    received.resize(static_cast<std::size_t>(ahead.advance(end, [](auto...) {})));
    receive_chunk(ranks, rank, received);
    const double* next = received.data();
    cursors[rank].advance(end, [&](std::int64_t /*entry*/, std::int64_t whole, std::int64_t count) {
      std::copy_n(next, count, values.data() + (whole - first));
      next += count;
    });
  }
}

}  // namespace

Gathering gather_whole(const VectorLayout& layout, std::span<const double> x, std::int64_t chunk,
                       const TakeChunk& take) {
  TESSERA_CHECK(chunk > 0);
  TESSERA_CHECK(static_cast<std::int64_t>(x.size()) == layout.size);
  const std::int64_t size = layout.whole_size();
  if (layout.shared == nullptr) {
    if (!take) return Gathering::refused;
    for (std::int64_t first = 0; first < size; first += chunk) {
      take(first, x.subspan(first, std::min(chunk, size - first)));
    }
    return Gathering::done;
  }
  const Communicator& ranks = layout.shared->ranks();
  if (ranks.any(ranks.rank() == 0 && !take)) return Gathering::refused;
  std::vector<Cursor> cursors = cursors_of_all(layout);
  std::vector<double> values;
  std::exception_ptr failure;
  for (std::int64_t first = 0; first < size; first += chunk) {
    const std::int64_t count = std::min(chunk, size - first);
    values.resize(static_cast<std::size_t>(count));
    if (ranks.rank() != 0) {
      values.clear();
      cursors[ranks.rank()].advance(
          first + count, [&](std::int64_t from, std::int64_t /*whole*/, std::int64_t length) {
            values.insert(values.end(), x.data() + from, x.data() + from + length);
          });
      send_chunk(ranks, values);
      continue;
    }
    receive_whole_chunk(ranks, cursors, x, first, values);
    if (failure) continue;
    try {
      take(first, values);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  const bool has_failed = ranks.any(failure != nullptr);
  if (failure) std::rethrow_exception(failure);
  return has_failed ? Gathering::failed : Gathering::done;
}

bool scatter_whole(std::int64_t chunk, const GiveChunk& give, HostVector<double>& x) {
  TESSERA_CHECK(chunk > 0);
  const VectorLayout& layout = x.layout();
  const std::int64_t size = layout.whole_size();
  if (layout.shared == nullptr) {
    if (!give) return false;
    for (std::int64_t first = 0; first < size; first += chunk) {
      give(first, x.span().subspan(first, std::min(chunk, size - first)));
    }
    return true;
  }
  const Communicator& ranks = layout.shared->ranks();
  if (ranks.any(ranks.rank() == 0 && !give)) return false;
  Cursor cursor(Box{layout.shared->numbers(), layout.size});
  std::vector<double> values;
  for (std::int64_t first = 0; first < size; first += chunk) {
    values.resize(static_cast<std::size_t>(std::min(chunk, size - first)));
    std::exception_ptr failure;
    if (ranks.rank() == 0) {
      try {
        give(first, values);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    const bool has_failed = ranks.any(failure != nullptr);
    if (failure) std::rethrow_exception(failure);
    if (has_failed) return false;
    ranks.broadcast(std::as_writable_bytes(std::span(values)));
    cursor.advance(first + static_cast<std::int64_t>(values.size()),
                   [&](std::int64_t entry, std::int64_t whole, std::int64_t count) {
                     std::copy_n(values.data() + (whole - first), count, x.data() + entry);
                   });
  }
  return true;
}

}  // namespace tessera
