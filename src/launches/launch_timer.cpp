#include "src/launches/launch_timer.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include "postprocess/timing/statistics.hpp"
#include "solvers/memory/cuda_owners.hpp"

namespace tessera {
namespace {

/// The first CUDA that has all of DriverCalls.
constexpr unsigned kDriverVersion = 12030;
/// Fills of so few bytes before a kernel set a counter that it needs.
constexpr std::size_t kCounterBytes = 64;
constexpr int kCopies = 20;
constexpr int kCopiesOfLongOnes = 3;
constexpr double kLongSeconds = 2e-3;
constexpr int kRepetitions = 5;

template <class Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, kDriverVersion, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  check_cuda(status, "asking for a function of the driver");
  if (result != cudaDriverEntryPointSuccess || found == nullptr) {
    throw DeviceError(std::string("the driver has no ") + name + ", which CUDA 12.3 has");
  }
  function = reinterpret_cast<Function>(found);
}

/// An event that records the time.
Event make_timing_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "creating an event");
  return Event(event);
}

/// A graph whose nodes run one after another, with the time between two of them.
class Chain {
 public:
  explicit Chain(const DriverCalls& driver)
      : driver_(driver), begin_(make_timing_event()), end_(make_timing_event()) {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaGraphCreate(&graph, 0), "making a graph");
    graph_.reset(graph);
  }

  void add(const cudaMemsetParams& fill) {
    append([&](cudaGraphNode_t* node, const cudaGraphNode_t* before, std::size_t count) {
      return cudaGraphAddMemsetNode(node, graph_.get(), before, count, &fill);
    });
  }
  void add(const CapturedKernel& kernel, const LaunchGrid& grid) {
    for (const cudaMemsetParams& counter : kernel.counters) add(counter);
    CUDA_KERNEL_NODE_PARAMS params = kernel.params;
    params.gridDimX = static_cast<unsigned>(grid[0]);
    params.gridDimY = static_cast<unsigned>(grid[1]);
    params.gridDimZ = static_cast<unsigned>(grid[2]);
    cudaGraphNode_t node = nullptr;
    check_driver(driver_.add_kernel_node(&node, graph_.get(), last_ ? &last_ : nullptr,
                                         last_ ? 1 : 0, &params),
                 "adding a kernel to a graph");
    last_ = node;
    check_driver(driver_.copy_attributes(node, kernel.node), "copying the attributes of a launch");
  }
  void add(const CapturedGraph& graph) {
    append([&](cudaGraphNode_t* node, const cudaGraphNode_t* before, std::size_t count) {
      return cudaGraphAddChildGraphNode(node, graph_.get(), before, count, graph.get());
    });
  }
  void begin() { add_event(begin_); }
  void end() { add_event(end_); }

  /// Of the nodes between begin() and end(): the median of several launches after one.
  double seconds() {
    const ExecutableGraph ready = executable(graph_);
    std::vector<double> seconds;
    for (int repetition = 0; repetition <= kRepetitions; ++repetition) {
      launch_graph(ready);
      synchronize_device();
      float milliseconds = 0.0F;
      check_cuda(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()),
                 "reading the time of a launch");
      if (repetition > 0) seconds.push_back(1e-3 * static_cast<double>(milliseconds));
    }
    return median(std::move(seconds));
  }

 private:
  template <class Add>
  void append(Add&& add_node) {
    cudaGraphNode_t node = nullptr;
    check_cuda(add_node(&node, last_ ? &last_ : nullptr, std::size_t{last_ ? 1U : 0U}),
               "adding to a graph");
    last_ = node;
  }
  void add_event(const Event& event) {
    append([&](cudaGraphNode_t* node, const cudaGraphNode_t* before, std::size_t count) {
      return cudaGraphAddEventRecordNode(node, graph_.get(), before, count, event.get());
    });
  }

  const DriverCalls& driver_;
  CapturedGraph graph_;
  cudaGraphNode_t last_ = nullptr;
  Event begin_;
  Event end_;
};

/// Seconds of one of several in sequence, fewer if they are long.
double mean_seconds(const DriverCalls& driver, const std::function<void(Chain&)>& add) {
  const auto of_copies = [&](int copies) {
    Chain chain(driver);
    chain.begin();
    for (int copy = 0; copy < copies; ++copy) add(chain);
    chain.end();
    return chain.seconds() / copies;
  };
  return of_copies(of_copies(1) > kLongSeconds ? kCopiesOfLongOnes : kCopies);
}

cudaMemsetParams filling(char* data, std::size_t bytes) {
  return {.dst = data, .pitch = 0, .value = 0, .elementSize = 4, .width = bytes / 4, .height = 1};
}

CapturedKernel described(const DriverCalls& driver, cudaGraphNode_t node) {
  CapturedKernel kernel{.node = node, .params = {}, .function = nullptr, .counters = {}};
  check_driver(driver.kernel_node_params(node, &kernel.params), "reading a launch");
  kernel.function = kernel.params.func;
  if (kernel.function == nullptr) {
    check_driver(driver.function_of_kernel(&kernel.function, kernel.params.kern),
                 "asking for a kernel");
  }
  return kernel;
}

void collect(const DriverCalls& driver, cudaGraph_t graph, CapturedKernels& found) {
  std::size_t count = 0;
  check_cuda(cudaGraphGetNodes(graph, nullptr, &count), "counting launches");
  std::vector<cudaGraphNode_t> nodes(count);
  check_cuda(cudaGraphGetNodes(graph, nodes.data(), &count), "listing launches");
  std::vector<cudaMemsetParams> counters;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    check_cuda(cudaGraphNodeGetType(node, &type), "asking what a launch is");
    if (type == cudaGraphNodeTypeKernel) {
      found.kernels.push_back(described(driver, node));
      found.kernels.back().counters = std::move(counters);
      counters.clear();
      continue;
    }
    counters.clear();
    if (type == cudaGraphNodeTypeGraph) {
      cudaGraph_t inner = nullptr;
      check_cuda(cudaGraphChildGraphNodeGetGraph(node, &inner), "opening a graph");
      collect(driver, inner, found);
      continue;
    }
    ++found.other_nodes;
    if (type != cudaGraphNodeTypeMemset) continue;
    cudaMemsetParams fill = {};
    check_cuda(cudaGraphMemsetNodeGetParams(node, &fill), "reading a fill");
    if (fill.width * fill.height * fill.elementSize <= kCounterBytes) counters.push_back(fill);
  }
}

}  // namespace

DriverCalls::DriverCalls() {
  find("cuGraphKernelNodeGetParams", kernel_node_params);
  find("cuGraphAddKernelNode", add_kernel_node);
  find("cuGraphKernelNodeCopyAttributes", copy_attributes);
  find("cuKernelGetFunction", function_of_kernel);
  find("cuFuncGetAttribute", function_attribute);
  find("cuFuncGetName", function_name);
  find("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks_per_multiprocessor);
}

CapturedKernels kernels_of(const DriverCalls& driver, cudaGraph_t graph) {
  CapturedKernels found;
  collect(driver, graph, found);
  return found;
}

int attribute(const DriverCalls& driver, const CapturedKernel& kernel, CUfunction_attribute which) {
  int value = 0;
  check_driver(driver.function_attribute(&value, which, kernel.function),
               "asking what a kernel takes");
  return value;
}

std::string kernel_name(const DriverCalls& driver, const CapturedKernel& kernel) {
  const char* mangled = nullptr;
  check_driver(driver.function_name(&mangled, kernel.function), "asking for a kernel's name");
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

LaunchTimer::LaunchTimer(const DriverCalls& driver)
    : driver_(driver), flush_(std::max<std::int64_t>(2 * require_device().l2_bytes, 1 << 20)) {}

double LaunchTimer::seconds(const CapturedKernel& kernel, const LaunchGrid& grid) {
  return mean_seconds(driver_, [&](Chain& chain) { chain.add(kernel, grid); });
}

double LaunchTimer::seconds(const CapturedGraph& graph) {
  return mean_seconds(driver_, [&](Chain& chain) { chain.add(graph); });
}

double LaunchTimer::cold_seconds(const CapturedKernel& kernel, const LaunchGrid& grid) {
  Chain chain(driver_);
  CapturedKernel alone = kernel;
  for (const cudaMemsetParams& counter : kernel.counters) chain.add(counter);
  alone.counters.clear();
  chain.add(filling(flush_.data(), static_cast<std::size_t>(flush_.bytes())));
  chain.begin();
  chain.add(alone, grid);
  chain.end();
  return chain.seconds();
}

}  // namespace tessera
