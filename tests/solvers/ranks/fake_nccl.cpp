// What a test loads in place of NCCL: it has every function, and no processes find each other.

#include <cstddef>

namespace {
constexpr int kSystemError = 2;
}

extern "C" {
struct FakeUniqueId {
  char internal[128];
};
int ncclGetVersion(int* version) {
  *version = 22803;
  return 0;
}
int ncclGetUniqueId(FakeUniqueId* id) {
  *id = {};
  return 0;
}
int ncclCommInitRank(void** /*comm*/, int /*count*/, FakeUniqueId /*id*/, int /*rank*/) {
  return kSystemError;
}
int ncclCommDestroy(void* /*comm*/) { return 0; }
int ncclCommAbort(void* /*comm*/) { return 0; }
const char* ncclGetErrorString(int result) {
  return result == kSystemError ? "unhandled system error" : "other";
}
int ncclGroupStart() { return 0; }
int ncclGroupEnd() { return 0; }
int ncclSend(const void*, std::size_t, int, int, void*, void*) { return 0; }
int ncclRecv(void*, std::size_t, int, int, void*, void*) { return 0; }
int ncclAllGather(const void*, void*, std::size_t, int, void*, void*) { return 0; }
}
