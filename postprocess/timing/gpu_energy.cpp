// This file loads NVML at run time and reads its counter.
#include "postprocess/timing/gpu_energy.hpp"

#include <dlfcn.h>

#include <future>

namespace tessera {

// The declarations of nvml.h that are needed, so that no build asks for that file.
struct GpuEnergyCounter::Nvml {
  using Device = struct nvmlDevice_st*;
  using Return = int;
  static constexpr Return kSuccess = 0;

  void* library = nullptr;
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*find_by_bus_id)(const char* bus_id, Device* device) = nullptr;
  Return (*total_energy)(Device device, unsigned long long* millijoules) = nullptr;
  const char* (*error_text)(Return) = nullptr;
  bool is_initialized = false;
  Device device = nullptr;

  Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (is_initialized) shutdown();
    if (library != nullptr) dlclose(library);
  }

  template <class F>
  bool find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(dlsym(library, name));
    return function != nullptr;
  }
  bool load(const std::string& file) {
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && find("nvmlInit_v2", init) && find("nvmlShutdown", shutdown) &&
           find("nvmlDeviceGetHandleByPciBusId_v2", find_by_bus_id) &&
           find("nvmlDeviceGetTotalEnergyConsumption", total_energy) &&
           find("nvmlErrorString", error_text);
  }
  // NVML counts who has started it, and only the first one waits.
  Return start() {
    const Return status = init();
    is_initialized = status == kSuccess;
    return status;
  }
};

GpuEnergyCounter::GpuEnergyCounter(const std::string& library, const std::string& bus_id)
    : nvml_(std::make_unique<Nvml>()) {
  if (!nvml_->load(library)) {
    failure_ = "no NVML (" + library + ")";
    return;
  }
  Nvml::Return status = nvml_->start();
  if (nvml_->is_initialized) status = nvml_->find_by_bus_id(bus_id.c_str(), &nvml_->device);
  if (status != Nvml::kSuccess) {
    failure_ = std::string("NVML: ") + nvml_->error_text(status);
    return;
  }
  first_ = last_ = read();
}

GpuEnergyCounter::~GpuEnergyCounter() = default;

unsigned long long GpuEnergyCounter::read() {
  unsigned long long millijoules = 0;
  const Nvml::Return status = nvml_->total_energy(nvml_->device, &millijoules);
  if (status != Nvml::kSuccess) failure_ = std::string("NVML: ") + nvml_->error_text(status);
  return millijoules;
}

void GpuEnergyCounter::sample() {
  if (failure_.empty()) last_ = read();
}

void start_gpu_energy(const std::string& library) {
  using Nvml = GpuEnergyCounter::Nvml;
  static const auto started = std::async(std::launch::async, [library] {
    auto nvml = std::make_unique<Nvml>();
    // Who measures says what is wrong.
    if (nvml->load(library)) nvml->start();
    return nvml;
  });
}

}  // namespace tessera
