// The kernels of messages that are appended to one array.
#include "operators/cells/append.cuh"
#include "solvers/memory/hashed_value.hpp"
#include "solvers/memory/warp.cuh"
#include "src/studies/aggregation/appends/device_append.hpp"
#include "src/studies/aggregation/message_check.cuh"

namespace tessera {
namespace {

constexpr int kUsualThreads = 256;

/// Which threads append.
struct Chosen {
  std::uint64_t share;
  std::uint64_t seed;

  __device__ bool operator()(std::int64_t i) const {
    return (hashed_bits(i + static_cast<std::int64_t>(seed << 40U)) >> 32U) < share;
  }
};

struct AppendArguments {
  Chosen chosen;
  ListSize* size;
  ListSize* reservations;  // null: not counted
  void* array;
  int words;       // of a message
  int lane_shift;  // 5: lane >> 5 is 0, which the compiler cannot know
};

// Word k, of 4 bytes, of a message.
__device__ unsigned word_of(unsigned number, int k) {
  return number ^ (static_cast<unsigned>(k) * 0x9e3779b9U);
}

__device__ void write(unsigned number, int k, unsigned& word) { word = word_of(number, k); }
__device__ void write(unsigned number, int k, uint2& word) {
  word = make_uint2(word_of(number, 2 * k), word_of(number, 2 * k + 1));
}
__device__ void write(unsigned number, int k, uint4& word) {
  word = make_uint4(word_of(number, 4 * k), word_of(number, 4 * k + 1), word_of(number, 4 * k + 2),
                    word_of(number, 4 * k + 3));
}

// One addition a thread. Where the address is the same for all threads of a warp, and known to be,
// the compiler may sum before it adds: so the address depends on the lane, as far as it can tell.
__device__ Reserved append_by_lane(ListSize* size, int lane_shift) {
  ListSize* const own = size + ((threadIdx.x % kWarp) >> lane_shift);
  ListSize place;
  asm volatile("atom.global.add.u64 %0, [%1], 1;" : "=l"(place) : "l"(own) : "memory");
  return {place, true};
}

template <AppendLevel level, int threads>
__device__ Reserved reserve(const AppendArguments& arguments, bool is_chosen) {
  if constexpr (level == AppendLevel::block) {
    __shared__ typename BlockAppend<threads>::Scratch scratch;
    return BlockAppend<threads>(scratch)(appends_if(is_chosen), arguments.size);
  } else {
    if (!is_chosen) return {0, false};
    if constexpr (level == AppendLevel::warp) return append_by_warp(arguments.size);
    return append_by_lane(arguments.size, arguments.lane_shift);
  }
}

template <AppendLevel level, int threads, class Word>
__global__ void __launch_bounds__(threads) append_messages(AppendArguments arguments) {
  const std::int64_t i = thread_number<threads>();
  const bool is_chosen = arguments.chosen(i);
  const Reserved reserved = reserve<level, threads>(arguments, is_chosen);
  if (reserved.is_leader && arguments.reservations != nullptr) {
    atomicAdd(arguments.reservations, ListSize{1});
  }
  if (!is_chosen) return;
  Word* const message = static_cast<Word*>(arguments.array) + reserved.place * arguments.words;
  for (int k = 0; k < arguments.words; ++k) write(static_cast<unsigned>(i), k, message[k]);
}

// Notes the messages of the array.
__global__ void __launch_bounds__(kUsualThreads)
    read_messages(const unsigned* __restrict__ array, int words, std::int64_t room,
                  const ListSize* __restrict__ size, MessageMarks marks) {
  MessageTally tally;
  const std::int64_t count = min(static_cast<std::int64_t>(*size), room);
  for (std::int64_t i = thread_number<kUsualThreads>(); i < count;
       i += thread_count<kUsualThreads>()) {
    const unsigned* const message = array + i * words;
    const unsigned number = message[0];
    bool is_whole = true;
    for (int k = 1; k < words; ++k) is_whole = is_whole && message[k] == word_of(number, k);
    tally.note(marks, number, is_whole);
  }
  tally.finish(marks);
}

template <AppendLevel level, int threads>
void launch_appends(const AppendWork& work, AppendArguments arguments) {
  const Launch as = {.name = "appending messages",
                     .blocks = dim3(blocks_for(work.threads, threads)),
                     .threads = dim3(threads)};
  if (work.bytes == 4) {
    arguments.words = 1;
    launch(append_messages<level, threads, unsigned>, as, arguments);
  } else if (work.bytes == 8) {
    arguments.words = 1;
    launch(append_messages<level, threads, uint2>, as, arguments);
  } else {
    arguments.words = work.bytes / 16;
    launch(append_messages<level, threads, uint4>, as, arguments);
  }
}

}  // namespace

DeviceAppend::DeviceAppend(std::int64_t bytes, std::int64_t threads)
    : array_(bytes), threads_(threads), counters_(2) {}

void DeviceAppend::append(const AppendWork& work, unsigned long long* reservations) {
  const AppendArguments arguments = {.chosen = {work.share, work.seed},
                                     .size = counters_.data(),
                                     .reservations = reservations,
                                     .array = array_.data(),
                                     .words = 1,
                                     .lane_shift = 5};
  if (work.level == AppendLevel::lane) {
    return launch_appends<AppendLevel::lane, kUsualThreads>(work, arguments);
  }
  if (work.level == AppendLevel::warp) {
    return launch_appends<AppendLevel::warp, kUsualThreads>(work, arguments);
  }
  switch (work.block_threads) {
    case 64:
      return launch_appends<AppendLevel::block, 64>(work, arguments);
    case 128:
      return launch_appends<AppendLevel::block, 128>(work, arguments);
    case 256:
      return launch_appends<AppendLevel::block, 256>(work, arguments);
    default:
      return launch_appends<AppendLevel::block, 1024>(work, arguments);
  }
}

double DeviceAppend::seconds(const AppendWork& work) {
  zero_on_device(counters_.data(), counters_.bytes());
  stopwatch_.start();
  append(work, nullptr);
  return stopwatch_.stop();
}

DeviceAppend::Counted DeviceAppend::count(const AppendWork& work) {
  constexpr std::int64_t kMaxBlocks = 4096;
  zero_on_device(counters_.data(), counters_.bytes());
  zero_on_device(array_.data(), work.threads * work.bytes);
  append(work, counters_.data() + 1);
  MessageCheck check(threads_);
  launch(read_messages,
         {.name = "reading messages",
          .blocks = dim3(blocks_for(work.threads, kUsualThreads, kMaxBlocks)),
          .threads = dim3(kUsualThreads)},
         reinterpret_cast<const unsigned*>(array_.data()), work.bytes / 4,
         array_.size() / work.bytes, counters_.data(), check.view());
  const Chosen chosen = {work.share, work.seed};
  const std::int64_t threads = work.threads;
  const MessageVerdict messages =
      check.verdict([=] __device__(std::int64_t i) { return i < threads && chosen(i); });
  const std::vector<unsigned long long> counters = to_host(counters_);
  return {.messages = messages, .reservations = static_cast<double>(counters[1])};
}

}  // namespace tessera
