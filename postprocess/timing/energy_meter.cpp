// This file combines the energy counters, and words what they cover.
#include "postprocess/timing/energy_meter.hpp"

#include "postprocess/files/human_units.hpp"

namespace tessera {
namespace {

constexpr double kSecondsBetweenSamples = 10.0;

template <class Counter>
MeasuredEnergy measured(const Counter& counter, const std::string& covers, double seconds,
                        double step) {
  if (!counter.failure().empty()) return {std::nullopt, counter.failure()};
  if (seconds < step) return {std::nullopt, "shorter than the counter's step"};
  return {counter.joules(), covers};
}

std::string described(const char* name, const MeasuredEnergy& energy) {
  return std::string(name) + (energy.joules ? ": " : ": not measured, ") + energy.note;
}

std::string amount(const char* name, const MeasuredEnergy& energy) {
  return name + (energy.joules ? " " + human_joules(*energy.joules) : " not measured");
}

}  // namespace

std::optional<double> EnergyUse::joules() const {
  const bool gpu_is_measured = gpu && gpu->joules;
  if (!cpu.joules && !gpu_is_measured) return std::nullopt;
  return cpu.joules.value_or(0.0) + (gpu_is_measured ? *gpu->joules : 0.0);
}

std::string EnergyUse::note() const {
  return (gpu ? described("GPU", *gpu) + "; " : "") + described("CPU", cpu);
}

std::string EnergyUse::text(double dofs) const {
  const std::optional<double> total = joules();
  if (!total) {
    return "not measured (" + (gpu ? "GPU: " + gpu->note + "; CPU: " : "") + cpu.note + ")";
  }
  return (gpu ? amount("GPU", *gpu) + ", " : "") + amount("CPU", cpu) + "; " +
         human_joules(*total / dofs) + " per DoF";
}

EnergyMeter::EnergyMeter(const EnergySources& sources)
    : seconds_(sources.seconds),
      gpu_(sources.gpu_bus_id.empty()
               ? nullptr
               : std::make_unique<GpuEnergyCounter>(sources.nvml, sources.gpu_bus_id)),
      started_(seconds_()),
      sampled_(started_),
      cpu_(sources.powercap, started_) {}

void EnergyMeter::sample() {
  const double now = seconds_();
  if (now - sampled_ < kSecondsBetweenSamples) return;
  sampled_ = now;
  cpu_.sample(now);
}

EnergyUse EnergyMeter::stop() {
  const double now = seconds_();
  cpu_.sample(now);
  const double seconds = now - started_;
  EnergyUse use;
  use.cpu = measured(cpu_, cpu_.counts_memory() ? "packages and memory" : "packages", seconds,
                     kCpuEnergyStep);
  if (gpu_ != nullptr) {
    gpu_->sample();
    use.gpu = measured(*gpu_, "the whole device, in steps of up to 0.1 s", seconds, kGpuEnergyStep);
  }
  return use;
}

}  // namespace tessera
