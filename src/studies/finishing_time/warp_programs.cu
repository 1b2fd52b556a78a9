// This file runs programs of warps on the GPU.
#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "solvers/memory/device_array.hpp"
#include "solvers/memory/launch.cuh"
#include "src/studies/finishing_time/program_kernel.cuh"
#include "src/studies/finishing_time/warp_programs.hpp"

namespace tessera {
namespace {

using ProgramKernel = void (*)(ProgramArguments);

template <class T, Path path>
ProgramKernel kernel_of(WarpWork work, int repetitions) {
  if (work == WarpWork::loads) return run_program<T, path, WarpWork::loads, 1>;
  if (work == WarpWork::multiply_adds) return run_program<T, path, WarpWork::multiply_adds, 1>;
  switch (repetitions) {
    case 1:
      return run_program<T, path, WarpWork::program, 1>;
    case 2:
      return run_program<T, path, WarpWork::program, 2>;
    case 4:
      return run_program<T, path, WarpWork::program, 4>;
    case 8:
      return run_program<T, path, WarpWork::program, 8>;
    default:
      throw std::invalid_argument("There is no kernel of so many repetitions");
  }
}

template <class T>
ProgramKernel kernel_of(const ProgramSetup& setup) {
  switch (setup.memory) {
    case ProgramMemory::shared:
      return kernel_of<T, Path::shared>(setup.work, setup.repetitions);
    case ProgramMemory::l1:
      return kernel_of<T, Path::cached>(setup.work, setup.repetitions);
    case ProgramMemory::dram:
      return kernel_of<T, Path::fresh>(setup.work, setup.repetitions);
    default:
      return kernel_of<T, Path::uncached>(setup.work, setup.repetitions);
  }
}

__global__ void __launch_bounds__(kThreadsPerGpuWarp)
    wait_for(const unsigned long long* nanoseconds, unsigned long long* begin,
             unsigned long long* end) {
  const unsigned long long start = nanoseconds_now();
  while (nanoseconds_now() - start < nanoseconds[blockIdx.x]) __nanosleep(500);
  if (threadIdx.x != 0) return;
  begin[blockIdx.x] = start;
  end[blockIdx.x] = nanoseconds_now();
}

}  // namespace

namespace {

/// Of a program, on a multiprocessor.
int blocks_of(int warps) { return warps > kMaxWarpsPerBlock ? kMaxBlocks : 1; }

/// How a setup is launched.
struct ProgramLaunch {
  explicit ProgramLaunch(const ProgramSetup& setup) : blocks(blocks_of(setup.warps)) {
    const bool fits_block = setup.warps >= 1 && setup.warps <= kMaxWarpsPerBlock;
    if (!fits_block && setup.warps != kMaxBlocks * kMaxWarpsPerBlock) {
      throw std::invalid_argument("A multiprocessor holds no such number of warps");
    }
    const bool is_double = setup.scalar == ProgramScalar::double_precision;
    kernel = is_double ? kernel_of<double>(setup) : kernel_of<float>(setup);
    threads = setup.warps / blocks * kThreadsPerGpuWarp;
    if (setup.memory != ProgramMemory::shared) return;
    shared_bytes = std::size_t{2} * static_cast<std::size_t>(threads) *
                   (is_double ? sizeof(double) : sizeof(float));
  }

  int blocks;
  ProgramKernel kernel;
  int threads;
  std::size_t shared_bytes = 0;
};

}  // namespace

struct WarpPrograms::State {
  State()
      : multiprocessors(device_attribute(cudaDevAttrMultiProcessorCount)),
        stride(2 * kMaxBlocks * multiprocessors * kMaxThreads),
        global(stride),
        begin(std::int64_t{kMaxBlocks} * multiprocessors * kMaxWarpsPerBlock),
        end(begin.size()),
        places(std::int64_t{kMaxBlocks} * multiprocessors),
        arrived(std::int64_t{kPasses} * multiprocessors),
        starts(arrived.size()),
        flush(std::max<std::int64_t>(2 * require_device().l2_bytes, 1)) {
    zero_on_device(global.data(), global.bytes());
  }

  ProgramArguments arguments(const ProgramSetup& setup) {
    const bool is_fresh = setup.memory == ProgramMemory::dram;
    constexpr int kMaxPairs = kInstructionsAlone / 2;
    const int pass_values = kMaxPairs * stride;
    if (is_fresh && global.size() == stride) {
      global = DeviceArray<double>(std::int64_t{kPasses} * pass_values);
      zero_on_device(global.data(), global.bytes());
    }
    return {.global = global.data(),
            .begin = begin.data(),
            .end = end.data(),
            .multiprocessors = places.data(),
            .blocks = blocks_of(setup.warps),
            .arrived = arrived.data(),
            .starts = starts.data(),
            .stride = stride,
            .pass_offset = is_fresh ? pass_values : 0};
  }

  /// Of the last launch, the largest of the multiprocessors.
  double cycles(int warps) const {
    struct Span {
      int blocks = 0;
      long long begin = std::numeric_limits<long long>::max();
      long long end = 0;
    };
    const int blocks = blocks_of(warps);
    const std::vector<int> where = to_host(places);
    const std::vector<long long> begins = to_host(begin);
    const std::vector<long long> ends = to_host(end);
    std::map<int, Span> spans;
    for (int block = 0; block < blocks * multiprocessors; ++block) {
      const auto first = static_cast<std::ptrdiff_t>(block) * kMaxWarpsPerBlock;
      const auto last = first + warps / blocks;
      Span& span = spans[where[static_cast<std::size_t>(block)]];
      ++span.blocks;
      span.begin =
          std::min(span.begin, *std::min_element(begins.begin() + first, begins.begin() + last));
      span.end = std::max(span.end, *std::max_element(ends.begin() + first, ends.begin() + last));
    }
    long long most = 0;
    for (const auto& [multiprocessor, span] : spans) {
      // Else some multiprocessor has more warps than it was to have, or blocks did not meet.
      if (span.blocks != blocks) {
        throw DeviceError("blocks of a program were not spread over all multiprocessors");
      }
      most = std::max(most, span.end - span.begin);
    }
    return static_cast<double>(most);
  }

  int multiprocessors;
  int stride;
  DeviceArray<double> global;
  DeviceArray<long long> begin;
  DeviceArray<long long> end;
  DeviceArray<int> places;
  DeviceArray<int> arrived;
  DeviceArray<long long> starts;
  DeviceArray<char> flush;
};

WarpPrograms::WarpPrograms() : state_(std::make_unique<State>()) {}
WarpPrograms::~WarpPrograms() = default;

const std::vector<int>& program_repetitions() {
  static const std::vector<int> all = {1, 2, 4, 8};
  return all;
}

bool WarpPrograms::holds(const ProgramSetup& setup) {
  const ProgramLaunch of(setup);
  return setup.warps <= kMaxWarpsPerBlock ||
         resident_blocks(of.kernel, of.threads, of.shared_bytes) >=
             std::int64_t{kMaxBlocks} * device_attribute(cudaDevAttrMultiProcessorCount);
}

std::vector<double> WarpPrograms::cycles(const ProgramSetup& setup, int launches) {
  const ProgramLaunch of(setup);
  if (!holds(setup)) {
    throw std::invalid_argument("A multiprocessor has too few registers for so many warps");
  }
  std::vector<double> cycles;
  for (int number = 0; number < launches; ++number) {
    if (setup.memory == ProgramMemory::dram) {
      zero_on_device(state_->flush.data(), state_->flush.bytes());
    }
    zero_on_device(state_->arrived.data(), state_->arrived.bytes());
    zero_on_device(state_->starts.data(), state_->starts.bytes());
    launch(of.kernel,
           {.name = "running a program of warps",
            .blocks = dim3(static_cast<unsigned>(of.blocks * state_->multiprocessors)),
            .threads = dim3(static_cast<unsigned>(of.threads)),
            .shared_bytes = of.shared_bytes},
           state_->arguments(setup));
    cycles.push_back(state_->cycles(setup.warps));
  }
  return cycles;
}

TimedBlocks WarpPrograms::waiting_blocks(const std::vector<std::uint64_t>& nanoseconds) {
  constexpr std::size_t kShared = 48 * 1024;
  const auto count = static_cast<std::int64_t>(nanoseconds.size());
  const DeviceArray<unsigned long long> wanted(
      std::vector<unsigned long long>(nanoseconds.begin(), nanoseconds.end()));
  DeviceArray<unsigned long long> begin(count);
  DeviceArray<unsigned long long> end(count);
  launch(wait_for,
         {.name = "waiting blocks",
          .blocks = dim3(static_cast<unsigned>(count)),
          .threads = dim3(kThreadsPerGpuWarp),
          .shared_bytes = kShared},
         wanted.data(), begin.data(), end.data());
  const std::vector<unsigned long long> begins = to_host(begin);
  const std::vector<unsigned long long> ends = to_host(end);
  TimedBlocks blocks{.slots = resident_blocks(wait_for, kThreadsPerGpuWarp, kShared)};
  for (std::size_t block = 0; block < begins.size(); ++block) {
    blocks.seconds.push_back(1e-9 * static_cast<double>(ends[block] - begins[block]));
  }
  blocks.all = 1e-9 * static_cast<double>(*std::max_element(ends.begin(), ends.end()) -
                                          *std::min_element(begins.begin(), begins.end()));
  return blocks;
}

}  // namespace tessera
