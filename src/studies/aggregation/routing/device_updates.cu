// The kernels of updates at random places.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "solvers/memory/hashed_value.hpp"
#include "src/studies/aggregation/routing/counting_sort.cuh"
#include "src/studies/aggregation/routing/device_updates.hpp"

namespace tessera {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 4096;
constexpr int kHighBits = 8;
constexpr int kBins = 1 << kHighBits;

/// Where update i is, by a hash, so that nothing is read.
struct PlaceOf {
  std::int64_t first;
  int bits;

  __device__ unsigned operator()(std::int64_t i) const {
    return static_cast<unsigned>(hashed_bits(first + i) >> (64 - bits));
  }
};

struct BinParcelOf {
  PlaceOf place_of;

  __device__ Parcel<unsigned> operator()(std::int64_t i) const {
    const unsigned place = place_of(i);
    return {place, place >> (place_of.bits - kHighBits)};
  }
};

// Nothing is lost where a bin is full.
struct AddAtOnce {
  unsigned long long* table;

  __device__ void operator()(unsigned /*bin*/, unsigned place) const {
    atomicAdd(&table[place], 1ULL);
  }
};

__global__ void __launch_bounds__(kThreads)
    add_as_they_come(PlaceOf place_of, std::int64_t updates, unsigned long long* table) {
  const std::int64_t i = thread_number<kThreads>();
  if (i < updates) atomicAdd(&table[place_of(i)], 1ULL);
}

__global__ void __launch_bounds__(kThreads)
    write_places(PlaceOf place_of, std::int64_t updates, unsigned* __restrict__ places) {
  const std::int64_t i = thread_number<kThreads>();
  if (i < updates) places[i] = place_of(i);
}

__global__ void __launch_bounds__(kThreads)
    add_at_places(const unsigned* __restrict__ places, std::int64_t updates,
                  unsigned long long* table) {
  const std::int64_t i = thread_number<kThreads>();
  if (i < updates) atomicAdd(&table[places[i]], 1ULL);
}

// The blocks of a bin are neighbors, so that few bins' parts of the table are in use at a time.
__global__ void __launch_bounds__(kThreads)
    add_bins(MessageLists<unsigned> bins, unsigned long long* table) {
  const std::int64_t i = thread_number<kThreads>();
  const std::int64_t held = min(static_cast<std::int64_t>(bins.sizes[blockIdx.y]), bins.capacity);
  if (i < held) atomicAdd(&table[bins.messages[blockIdx.y * bins.capacity + i]], 1ULL);
}

// sums[0] += entries, sums[1] += entries times hashes of their places.
__global__ void __launch_bounds__(kThreads)
    sum_table(const unsigned long long* __restrict__ table, std::int64_t entries,
              unsigned long long* sums) {
  unsigned long long sum = 0;
  unsigned long long weighted = 0;
  for (std::int64_t i = thread_number<kThreads>(); i < entries; i += thread_count<kThreads>()) {
    sum += table[i];
    weighted += table[i] * hashed_bits(i);
  }
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], weighted);
}

// sums[2] += hashes of the places of all updates.
__global__ void __launch_bounds__(kThreads)
    sum_updates(PlaceOf place_of, std::int64_t updates, unsigned long long* sums) {
  unsigned long long weighted = 0;
  for (std::int64_t i = thread_number<kThreads>(); i < updates; i += thread_count<kThreads>()) {
    weighted += hashed_bits(place_of(i));
  }
  atomicAdd(&sums[2], weighted);
}

int log2_of(std::int64_t power) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < power) ++bits;
  return bits;
}

// Of a bin: a 64th more than its share, and some for few updates.
std::int64_t bin_capacity(std::int64_t updates) {
  const std::int64_t share = updates / kBins;
  return share + share / 64 + 1024;
}

Launch over(std::int64_t items, const char* name, std::int64_t most = kMaxGrid) {
  return {
      .name = name, .blocks = dim3(blocks_for(items, kThreads, most)), .threads = dim3(kThreads)};
}

PlaceOf places_of(std::uint64_t seed, int bits) {
  return {static_cast<std::int64_t>(seed << 40U), bits};
}

std::int64_t sort_scratch_bytes(std::int64_t updates) {
  std::size_t bytes = 0;
  check_cuda(cub::DeviceRadixSort::SortKeys(nullptr, bytes, static_cast<const unsigned*>(nullptr),
                                            static_cast<unsigned*>(nullptr), updates, 0, kHighBits,
                                            device_stream()),
             "sizing the sort of updates");
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
}

std::int64_t place_room(std::int64_t updates) {
  return std::max(updates, kBins * bin_capacity(updates));
}

}  // namespace

DeviceUpdates::DeviceUpdates(std::int64_t entries, std::int64_t updates, std::uint64_t seed)
    : updates_(updates),
      seed_(seed),
      bits_(log2_of(entries)),
      table_(entries),
      places_(place_room(updates)),
      sorted_places_(updates),
      sizes_(kBins),
      scratch_(sort_scratch_bytes(updates)),
      sums_(3) {}

std::int64_t DeviceUpdates::bytes(std::int64_t entries, std::int64_t updates) {
  return 8 * entries + 4 * (place_room(updates) + updates) + sort_scratch_bytes(updates);
}

double DeviceUpdates::seconds(UpdateOrder order) {
  zero_on_device(table_.data(), table_.bytes());
  stopwatch_.start();
  switch (order) {
    case UpdateOrder::direct:
      add_directly();
      break;
    case UpdateOrder::sorted:
      add_sorted();
      break;
    case UpdateOrder::binned:
      add_binned();
      break;
  }
  return stopwatch_.stop();
}

void DeviceUpdates::add_directly() {
  launch(add_as_they_come, over(updates_, "adding at random places"), places_of(seed_, bits_),
         updates_, table_.data());
}

void DeviceUpdates::add_sorted() {
  launch(write_places, over(updates_, "writing places"), places_of(seed_, bits_), updates_,
         places_.data());
  auto bytes = static_cast<std::size_t>(scratch_.bytes());
  check_cuda(cub::DeviceRadixSort::SortKeys(
                 scratch_.data(), bytes, static_cast<const unsigned*>(places_.data()),
                 sorted_places_.data(), updates_, bits_ - kHighBits, bits_, device_stream()),
             "sorting updates");
  launch(add_at_places, over(updates_, "adding at sorted places"), sorted_places_.data(), updates_,
         table_.data());
}

void DeviceUpdates::add_binned() {
  const MessageLists<unsigned> bins = {.messages = places_.data(),
                                       .sizes = sizes_.data(),
                                       .capacity = bin_capacity(updates_),
                                       .lists = kBins};
  zero_on_device(sizes_.data(), sizes_.bytes());
  append_by_counting_sort(BinParcelOf{places_of(seed_, bits_)}, updates_, bins,
                          AddAtOnce{table_.data()});
  launch(add_bins,
         {.name = "adding bins",
          .blocks = dim3(blocks_for(bins.capacity, kThreads), kBins),
          .threads = dim3(kThreads)},
         bins, table_.data());
}

std::string DeviceUpdates::wrong() {
  zero_on_device(sums_.data(), sums_.bytes());
  launch(sum_table, over(table_.size(), "summing a table", kMaxBlocks), table_.data(),
         table_.size(), sums_.data());
  launch(sum_updates, over(updates_, "summing updates", kMaxBlocks), places_of(seed_, bits_),
         updates_, sums_.data());
  const std::vector<unsigned long long> sums = to_host(sums_);
  if (sums[0] != static_cast<unsigned long long>(updates_)) {
    return "the table's sum is " + std::to_string(sums[0]) + ", not " + std::to_string(updates_);
  }
  if (sums[1] != sums[2]) return "updates are at wrong places";
  return {};
}

}  // namespace tessera
