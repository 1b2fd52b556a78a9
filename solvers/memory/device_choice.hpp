// These functions choose the GPU of a process of several.
#pragma once

#include <string>

namespace tessera {

/// How many GPUs this process may use, of those that CUDA_VISIBLE_DEVICES leaves; 0 without any.
int visible_devices();

/// Makes one of them, by its number, that of this thread, before it does anything on a GPU.
/// @throws DeviceError
void choose_device(int number);

/// What names the GPU in use everywhere, "GPU-..." as nvidia-smi has it. @throws DeviceError
std::string device_uuid();

}  // namespace tessera
