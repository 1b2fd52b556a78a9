// The execution spaces Host and Device say where data live and code runs.
#pragma once

namespace tessera {

/// Execution on the host: memory of the process, loops on OpenMP threads.
///
/// Execution spaces are template parameters, so that mixing memories does not compile.
struct Host {};

/// Execution on the current GPU: its memory, kernels in the calling thread's default stream.
struct Device {};

/// The processor, where it is chosen at run time.
enum class Processor { cpu, gpu };

/// The processor of an execution space.
template <class Space>
inline constexpr Processor kProcessorOf = Processor::cpu;
template <>
inline constexpr Processor kProcessorOf<Device> = Processor::gpu;

}  // namespace tessera
