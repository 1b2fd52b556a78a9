// The variants, parts and columns of the study block-scheduling.
#pragma once

#include "src/studies/study_record.hpp"

namespace tessera {

inline constexpr char kModel[] = "model";
inline constexpr char kProbe[] = "probe";
inline constexpr char kSequences[] = "sequences";
inline constexpr char kTail[] = "tail";

/// Its parts: the nine cases, random sequences, and launches of operators.
inline constexpr char kCasesPart[] = "cases";
inline constexpr char kSequencesPart[] = "sequences";
inline constexpr char kTailPart[] = "tails";

/// The predictors of random sequences.
inline constexpr char kInTurn[] = "round-robin";
inline constexpr char kMaxRoom[] = "most-room";
inline constexpr char kAlgorithm[] = "algorithm-1";
inline constexpr char kCalibrated[] = "algorithm-1, calibrated";

[[nodiscard]] StudyLayout scheduling_layout();

/// The parameters of a case's row.
[[nodiscard]] std::vector<std::string> case_parameters(std::string_view number,
                                                       std::string_view gpu);
/// The parameters of a predictor's row.
[[nodiscard]] std::vector<std::string> predictor_parameters(const std::string& predictor);

/// The claims B1 to B11.
[[nodiscard]] std::vector<Claim> scheduling_claims();

/// The probe's rows: the nine cases and random sequences on the GPU in use. Builds without CUDA
/// must not call it. @throws DeviceError, Interrupted
void measure_probe(StudyRecord& record);

/// The rows of launches, and for which sizes they leave the GPU idle. Builds without CUDA must not
/// call it. @throws DeviceError, Interrupted, InputError
void measure_tails(StudyRecord& record);

}  // namespace tessera
