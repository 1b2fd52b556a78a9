// The kernel of producers, and how a GPU adds, loads and stores what the host sees.
#include <algorithm>
#include <nv/target>

#include "solvers/memory/launch.cuh"
#include "src/studies/aggregation/host_queue/device_producers.hpp"

namespace tessera {
namespace {

constexpr int kThreads = DeviceProducers::kSlotMessages;
constexpr unsigned kPauseNanoseconds = 200;

__device__ std::uint32_t load_acquire(const std::uint32_t* value) {
  std::uint32_t seen;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(value) : "memory");
  return seen;
}

__device__ void store_release(std::uint32_t* value, std::uint32_t what) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(value), "r"(what) : "memory");
}

/// The words that the host sees are loaded and stored one by one, without atomic operations, which
/// not every bus has; tickets are in memory of the GPU. The functions are for kernels alone, but
/// those of the queue, which call them, are for the host, too.
struct DeviceMemory {
  __host__ __device__ static std::uint64_t add([[maybe_unused]] std::uint64_t* value,
                                               [[maybe_unused]] std::uint64_t more) {
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (return atomicAdd(reinterpret_cast<unsigned long long*>(value),
                                        static_cast<unsigned long long>(more));),
                      (return 0;))
  }
  __host__ __device__ static std::uint32_t load([[maybe_unused]] const std::uint32_t* value) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return load_acquire(value);), (return 0;))
  }
  __host__ __device__ static void store([[maybe_unused]] std::uint32_t* value,
                                        [[maybe_unused]] std::uint32_t what) {
    NV_IF_TARGET(NV_IS_DEVICE, (store_release(value, what);))
  }
};

struct QueueInlet {
  std::uint64_t* next_written;
  SlotFlags* flags;
  std::uint64_t* words;
  std::uint32_t slots;
  std::int64_t message_words;
  std::uint64_t packages;
  const std::uint32_t* given_up;
};

// Whether the slot's turn has come; else somebody has given up.
__device__ bool wait_for(const QueueInlet& queue, const SlotTicket& ticket) {
  constexpr int kLooksUntilAsked = 64;
  for (int looks = 1; !may_fill<DeviceMemory>(queue.flags, ticket); ++looks) {
    if (looks % kLooksUntilAsked == 0 && DeviceMemory::load(queue.given_up) != 0) return false;
    __nanosleep(kPauseNanoseconds);
  }
  return true;
}

// Block b fills slots for the packages b, b + blocks, ... of 256 messages each.
__global__ void __launch_bounds__(kThreads) fill_slots(QueueInlet queue) {
  __shared__ SlotTicket ticket;
  __shared__ bool goes_on;
  for (std::uint64_t package = blockIdx.x; package < queue.packages; package += gridDim.x) {
    if (threadIdx.x == 0) {
      ticket = draw_ticket<DeviceMemory>(queue.next_written, queue.slots);
      goes_on = wait_for(queue, ticket);
    }
    __syncthreads();
    if (!goes_on) return;
    std::uint64_t* const slot = queue.words + ticket.slot * queue.message_words * kThreads;
    const std::uint64_t number = package * kThreads + threadIdx.x;
    for (std::int64_t w = 0; w < queue.message_words; ++w) {
      slot[w * kThreads + threadIdx.x] = message_word(number, static_cast<std::uint64_t>(w));
    }
    // After the barrier the first thread has seen all of these stores, so that who sees its own
    // sees them, too.
    __syncthreads();
    if (threadIdx.x == 0) publish<DeviceMemory>(queue.flags, ticket);
  }
}

}  // namespace

DeviceProducers::DeviceProducers(int message_bytes, std::int64_t queue_bytes)
    : slot_words_(kSlotMessages * message_bytes / 8),
      slots_(static_cast<std::uint32_t>(queue_bytes / (slot_words_ * 8))),
      flags_(make_pinned(slots_ * sizeof(SlotFlags))),
      words_(make_pinned(slots_ * static_cast<std::size_t>(slot_words_) * 8)),
      given_up_(make_pinned(sizeof(std::uint32_t))),
      next_written_(1) {
  *static_cast<std::uint32_t*>(given_up_.get()) = 0;
}

void DeviceProducers::reset() {
  auto* const flags = static_cast<SlotFlags*>(flags_.get());
  std::fill_n(flags, slots_, SlotFlags{});
  next_read_ = 0;
  *static_cast<std::uint32_t*>(given_up_.get()) = 0;
  zero_on_device(next_written_.data(), next_written_.bytes());
  synchronize_device();
}

void DeviceProducers::produce(std::uint64_t packages) {
  const QueueInlet queue = {.next_written = next_written_.data(),
                            .flags = static_cast<SlotFlags*>(flags_.get()),
                            .words = static_cast<std::uint64_t*>(words_.get()),
                            .slots = slots_,
                            .message_words = slot_words_ / kSlotMessages,
                            .packages = packages,
                            .given_up = static_cast<const std::uint32_t*>(given_up_.get())};
  // More blocks than slots would only poll.
  const auto most = std::min<std::int64_t>(resident_blocks(fill_slots, kThreads, 0), slots_);
  launch(fill_slots,
         {.name = "filling slots",
          .blocks = dim3(blocks_for(static_cast<std::int64_t>(packages), 1, most)),
          .threads = dim3(kThreads)},
         queue);
  synchronize_device();
}

QueueOutlet DeviceProducers::outlet(std::uint64_t packages) {
  return {.next_read = &next_read_,
          .flags = static_cast<SlotFlags*>(flags_.get()),
          .words = static_cast<const std::uint64_t*>(words_.get()),
          .slots = slots_,
          .slot_words = static_cast<std::size_t>(slot_words_),
          .packages = packages,
          .given_up = static_cast<std::uint32_t*>(given_up_.get())};
}

void DeviceProducers::give_up() {
  HostMemory::store(static_cast<std::uint32_t*>(given_up_.get()), 1);
}

PinnedCopy::PinnedCopy(std::int64_t bytes)
    : from_(bytes), to_(make_pinned(static_cast<std::size_t>(bytes))) {
  zero_on_device(from_.data(), bytes);
}

double PinnedCopy::seconds() {
  stopwatch_.start();
  enqueue_copy(to_.get(), from_.data(), static_cast<std::size_t>(from_.bytes()),
               cudaMemcpyDeviceToHost, "copying to page-locked memory");
  return stopwatch_.stop();
}

}  // namespace tessera
