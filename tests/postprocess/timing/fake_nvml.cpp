// What a test loads in place of NVML: one GPU, 0000:3b:00.0, that uses 7.5 J between two readings.

namespace {
constexpr int kNotFound = 6;
int device = 0;
unsigned long long millijoules = 1ULL << 40;
}  // namespace

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** found) {
  const char* expected = "0000:3b:00.0";
  while (*expected != '\0' && *bus_id == *expected) ++bus_id, ++expected;
  if (*expected != *bus_id) return kNotFound;
  *found = &device;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* asked, unsigned long long* energy) {
  if (asked != &device) return kNotFound;
  millijoules += 7500;
  *energy = millijoules;
  return 0;
}
const char* nvmlErrorString(int status) { return status == kNotFound ? "Not Found" : "Other"; }
}
