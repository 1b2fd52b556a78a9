// The kernels of messages to destinations.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "solvers/memory/hashed_value.hpp"
#include "src/studies/aggregation/message_check.cuh"
#include "src/studies/aggregation/routing/counting_sort.cuh"
#include "src/studies/aggregation/routing/device_routing.hpp"

namespace tessera {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxDestinations = 64;
// Of a destination; where there are more buffers, a block has several.
constexpr std::int64_t kMaxBlocks = 1 << 16;
constexpr int kMessageBytes = 8;
// Of sizes_, behind those of the destinations.
constexpr int kQueueSize = kMaxDestinations;
constexpr int kWaitingSize = kMaxDestinations + 1;

// A message: the place in the table in its upper half, the number of the update in its lower one.
using RoutedMessage = unsigned long long;

__host__ __device__ unsigned place_of(RoutedMessage message) {
  return static_cast<unsigned>(message >> 32U);
}
__host__ __device__ unsigned number_of(RoutedMessage message) {
  return static_cast<unsigned>(message);
}

/// Messages that are made from the numbers of updates, or that waited.
struct MessageOf {
  const RoutedMessage* waited;  // null: made
  std::int64_t first;
  std::int64_t seed_offset;
  int place_bits;

  __device__ RoutedMessage operator()(std::int64_t i) const {
    if (waited != nullptr) return waited[i];
    const std::int64_t number = first + i;
    return (hashed_bits(seed_offset + number) >> (64 - place_bits)) << 32U |
           static_cast<unsigned>(number);
  }
};

struct RoutedParcelOf {
  MessageOf message_of;
  int shift;

  __device__ Parcel<RoutedMessage> operator()(std::int64_t i) const {
    const RoutedMessage message = message_of(i);
    return {message, place_of(message) >> shift};
  }
};

struct LetWait {
  RoutedMessage* list;
  ListSize* size;

  __device__ void operator()(unsigned /*destination*/, RoutedMessage message) const {
    list[append_by_warp(size).place] = message;
  }
};

__global__ void __launch_bounds__(kThreads)
    append_directly(RoutedParcelOf parcel_of, std::int64_t count, MessageLists<RoutedMessage> to,
                    LetWait let_wait) {
  __shared__ unsigned counts[kMaxDestinations];
  __shared__ ListSize places[kMaxDestinations];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t i = thread_number<kThreads>();
  for (int l = thread; l < to.lists; l += kThreads) counts[l] = 0;
  __syncthreads();
  Parcel<RoutedMessage> parcel{};
  unsigned rank = 0;
  if (i < count) {
    parcel = parcel_of(i);
    rank = append_in_block(parcel.list, counts);
  }
  __syncthreads();
  for (int l = thread; l < to.lists; l += kThreads) {
    if (counts[l] > 0) places[l] = atomicAdd(&to.sizes[l], ListSize{counts[l]});
  }
  __syncthreads();
  if (i >= count) return;
  const auto place = static_cast<std::int64_t>(places[parcel.list] + rank);
  if (place < to.capacity) {
    to.messages[parcel.list * to.capacity + place] = parcel.message;
  } else {
    let_wait(parcel.list, parcel.message);
  }
}

__global__ void __launch_bounds__(kThreads)
    append_to_queue(MessageOf message_of, std::int64_t count, RoutedMessage* queue,
                    ListSize* size) {
  __shared__ BlockAppend<kThreads>::Scratch scratch;
  const std::int64_t i = thread_number<kThreads>();
  const Reserved reserved = BlockAppend<kThreads>(scratch)(appends_if(i < count), size);
  if (i < count) queue[reserved.place] = message_of(i);
}

__global__ void __launch_bounds__(kThreads)
    write_messages(MessageOf message_of, std::int64_t count, RoutedMessage* __restrict__ messages) {
  const std::int64_t i = thread_number<kThreads>();
  if (i < count) messages[i] = message_of(i);
}

// Where each destination's messages begin, and how many there are; one block.
__global__ void __launch_bounds__(kMaxDestinations)
    find_destinations(const RoutedMessage* __restrict__ sorted, std::int64_t count, int shift,
                      int destinations, ListSize* starts, ListSize* sizes) {
  const auto begin_of = [&](unsigned destination) {
    std::int64_t low = 0;
    std::int64_t high = count;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (place_of(sorted[middle]) >> shift < destination) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const unsigned destination = threadIdx.x;
  if (destination >= static_cast<unsigned>(destinations)) return;
  const std::int64_t begin = begin_of(destination);
  starts[destination] = static_cast<ListSize>(begin);
  sizes[destination] = static_cast<ListSize>(begin_of(destination + 1) - begin);
}

/// The messages of all destinations.
struct Delivery {
  const RoutedMessage* messages;
  const ListSize* starts;  // null: [destination][capacity]
  const ListSize* sizes;
  std::int64_t capacity;
  std::int64_t buffer_messages;
  int shift;
};

// The blocks of row d have the buffers of destination d.
template <class Use>
__device__ void for_each_delivered(const Delivery& delivery, Use use) {
  const unsigned destination = blockIdx.y;
  const std::int64_t held =
      min(static_cast<std::int64_t>(delivery.sizes[destination]), delivery.capacity);
  const RoutedMessage* const messages =
      delivery.messages + (delivery.starts != nullptr
                               ? static_cast<std::int64_t>(delivery.starts[destination])
                               : destination * delivery.capacity);
  for (std::int64_t buffer = blockIdx.x; buffer * delivery.buffer_messages < held;
       buffer += gridDim.x) {
    const std::int64_t begin = buffer * delivery.buffer_messages;
    const std::int64_t end = min(begin + delivery.buffer_messages, held);
    for (std::int64_t j = begin + threadIdx.x; j < end; j += kThreads) use(messages[j]);
  }
}

__global__ void __launch_bounds__(kThreads) add_delivered(Delivery delivery, unsigned* table) {
  for_each_delivered(delivery,
                     [&](RoutedMessage message) { atomicAdd(&table[place_of(message)], 1U); });
}

// Also notes their numbers; a message is strange that is not at its destination.
__global__ void __launch_bounds__(kThreads)
    note_delivered(Delivery delivery, MessageOf message_of, MessageMarks marks) {
  MessageTally tally;
  for_each_delivered(delivery, [&](RoutedMessage message) {
    const bool is_as_sent = message == message_of(number_of(message));
    tally.note(marks, number_of(message),
               is_as_sent && place_of(message) >> delivery.shift == blockIdx.y);
  });
  tally.finish(marks);
}

int log2_of(std::int64_t power) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < power) ++bits;
  return bits;
}

std::int64_t sort_scratch_bytes(std::int64_t messages) {
  std::size_t bytes = 0;
  check_cuda(cub::DeviceRadixSort::SortKeys(
                 nullptr, bytes, static_cast<const RoutedMessage*>(nullptr),
                 static_cast<RoutedMessage*>(nullptr), messages, 0, 8, device_stream()),
             "sizing the sort of messages");
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
}

// Of the shape with the most room: a destination has less than a buffer and an eighth beyond its
// share.
std::int64_t buffer_room(std::int64_t round) {
  constexpr std::int64_t kLargestBuffer = 256 * 1024 / kMessageBytes;
  return round + round / 8 + kMaxDestinations * (kLargestBuffer + 2);
}

Launch over(std::int64_t items, const char* name) {
  return {.name = name, .blocks = dim3(blocks_for(items, kThreads)), .threads = dim3(kThreads)};
}

MessageOf made_messages(const RoutingWork& work, int bits, std::int64_t first) {
  const int place_bits = work.to == RoutingWork::To::all ? bits : bits - log2_of(work.destinations);
  return {nullptr, first, static_cast<std::int64_t>(work.seed << 40U), place_bits};
}

}  // namespace

struct DeviceRouting::Source {
  MessageOf message_of;
  std::int64_t count;
};

struct DeviceRouting::Counting {
  MessageCheck* check;
  MessageOf message_of;  // of all updates
  double buffers = 0.0;
  double fill = 0.0;  // sum over the buffers
  double rounds = 0.0;
};

DeviceRouting::DeviceRouting(std::int64_t entries, std::int64_t updates, std::int64_t round)
    : bits_(log2_of(entries)),
      round_(std::min(round, updates)),
      updates_(updates),
      table_(entries),
      buffers_(buffer_room(round_)),
      queue_(round_),
      waiting_(round_),
      returning_(round_),
      sizes_(kMaxDestinations + 2),
      starts_(kMaxDestinations),
      scratch_(sort_scratch_bytes(round_)) {
  zero_on_device(table_.data(), table_.bytes());
}

// The messages that found no room; waits for the GPU.
std::int64_t DeviceRouting::waiting() {
  unsigned long long size = 0;
  copy_to_host(sizes_.data() + kWaitingSize, sizeof(size), &size);
  return static_cast<std::int64_t>(size);
}

void DeviceRouting::route_all(const RoutingWork& work, Counting* counting) {
  const std::int64_t round = std::min(round_, work.updates);
  const BufferShape shape =
      BufferShape::of(round, work.destinations, work.buffer_bytes, kMessageBytes);
  for (std::int64_t first = 0; first < work.updates; first += round) {
    Source source = {made_messages(work, bits_, first), std::min(round, work.updates - first)};
    while (source.count > 0) {
      zero_on_device(sizes_.data(), sizes_.bytes());
      route(work, shape, source);
      deliver(work, shape, counting);
      source.count = waiting();
      std::swap(waiting_, returning_);
      source.message_of.waited = returning_.data();
    }
  }
}

void DeviceRouting::route(const RoutingWork& work, const BufferShape& shape, const Source& source) {
  if (work.scheme == RoutingScheme::radix_sort) return sort_all(work, source);
  const int shift = destination_shift(table_.size(), work.destinations);
  const MessageLists<RoutedMessage> lists = {.messages = buffers_.data(),
                                             .sizes = sizes_.data(),
                                             .capacity = shape.messages(),
                                             .lists = work.destinations};
  const LetWait let_wait = {waiting_.data(), sizes_.data() + kWaitingSize};
  MessageOf message_of = source.message_of;
  if (work.scheme == RoutingScheme::direct) {
    launch(append_directly, over(source.count, "appending directly"),
           RoutedParcelOf{message_of, shift}, source.count, lists, let_wait);
    return;
  }
  // What waited has been in the queue before.
  if (work.scheme == RoutingScheme::indirect && message_of.waited == nullptr) {
    launch(append_to_queue, over(source.count, "appending to a queue"), message_of, source.count,
           queue_.data(), sizes_.data() + kQueueSize);
    message_of.waited = queue_.data();
  }
  append_by_counting_sort(RoutedParcelOf{message_of, shift}, source.count, lists, let_wait);
}

void DeviceRouting::sort_all(const RoutingWork& work, const Source& source) {
  launch(write_messages, over(source.count, "writing messages"), source.message_of, source.count,
         queue_.data());
  auto bytes = static_cast<std::size_t>(scratch_.bytes());
  const int shift = destination_shift(table_.size(), work.destinations);
  check_cuda(cub::DeviceRadixSort::SortKeys(
                 scratch_.data(), bytes, static_cast<const RoutedMessage*>(queue_.data()),
                 buffers_.data(), source.count, 32 + shift, 32 + bits_, device_stream()),
             "sorting messages");
  launch(find_destinations,
         {.name = "finding destinations", .blocks = dim3(1), .threads = dim3(kMaxDestinations)},
         buffers_.data(), source.count, shift, work.destinations, starts_.data(), sizes_.data());
}

void DeviceRouting::deliver(const RoutingWork& work, const BufferShape& shape, Counting* counting) {
  const bool is_sorted = work.scheme == RoutingScheme::radix_sort;
  const Delivery delivery = {.messages = buffers_.data(),
                             .starts = is_sorted ? starts_.data() : nullptr,
                             .sizes = sizes_.data(),
                             // Sorted messages have all the room that they need.
                             .capacity = is_sorted ? round_ : shape.messages(),
                             .buffer_messages = shape.buffer_messages,
                             .shift = destination_shift(table_.size(), work.destinations)};
  const Launch as = {.name = "delivering buffers",
                     .blocks = dim3(blocks_for(shape.buffers, 1, kMaxBlocks),
                                    static_cast<unsigned>(work.destinations)),
                     .threads = dim3(kThreads)};
  launch(add_delivered, as, delivery, table_.data());
  if (counting == nullptr) return;
  launch(note_delivered, as, delivery, counting->message_of, counting->check->view());
  const std::vector<unsigned long long> sizes = to_host(sizes_);
  for (int d = 0; d < work.destinations; ++d) {
    const std::int64_t held = std::min(static_cast<std::int64_t>(sizes[d]), delivery.capacity);
    counting->buffers += static_cast<double>(shape.used(held));
    counting->fill += static_cast<double>(held) / static_cast<double>(shape.buffer_messages);
  }
  counting->rounds += 1.0;
}

double DeviceRouting::seconds(const RoutingWork& work) {
  stopwatch_.start();
  route_all(work, nullptr);
  return stopwatch_.stop();
}

DeviceRouting::Counted DeviceRouting::count(const RoutingWork& work) {
  MessageCheck check(updates_);
  Counting counting = {&check, made_messages(work, bits_, 0)};
  route_all(work, &counting);
  const std::int64_t updates = work.updates;
  const MessageVerdict messages =
      check.verdict([=] __device__(std::int64_t i) { return i < updates; });
  return {.messages = messages,
          .buffers = counting.buffers,
          .mean_fill = counting.fill / counting.buffers,
          .rounds = counting.rounds};
}

}  // namespace tessera
