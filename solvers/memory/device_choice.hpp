// These functions choose the GPU of a process.
#pragma once

#include <optional>
#include <string>

namespace tessera {

/// How many queues of kernels CUDA sets up on the GPU at its start, which has to come after this,
/// unless the user has set CUDA_DEVICE_MAX_CONNECTIONS; the last call counts. With one instead of
/// eight the start takes 0.06 s less on an H100; kernels of more streams wait for each other.
void set_hardware_queues(int count);

/// Hides all GPUs from CUDA but one, before anything else asks for one: the start of CUDA takes a
/// tenth of a second or more for each that a process sees. The one that is left is that of
/// `number` modulo how many there are, among those of CUDA_VISIBLE_DEVICES where that is set.
/// Nothing is hidden where the system does not tell how many there are.
void leave_one_device(int number);

/// What CUDA_VISIBLE_DEVICES has to be for that; nothing if it is to stay as it is.
/// @param visible what it is; null: it is not set @param devices the GPUs that there are
std::optional<std::string> one_visible_device(const char* visible, int devices, int number);

/// CUDA_VISIBLE_DEVICES as the user has set it, for messages; nothing if it was not set.
std::optional<std::string> users_visible_devices();

/// How many GPUs this process may use, of those that CUDA_VISIBLE_DEVICES leaves; 0 without any.
int visible_devices();

/// Makes one of them, by its number, that of this thread, before it does anything on a GPU.
/// @throws DeviceError
void choose_device(int number);

/// What names the GPU in use everywhere, "GPU-..." as nvidia-smi has it. @throws DeviceError
std::string device_uuid();

}  // namespace tessera
