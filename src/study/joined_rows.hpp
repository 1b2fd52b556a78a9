// These functions join the rows of a study that several calls measure, each with another number of
// processes.
#pragma once

#include <string>

namespace tessera {

/// Refuses rows of another study, machine or program.
/// @param name of the file @param earlier its text @param csv comments and header of this call
/// @throws report::BadInput that names the file and what differs
void require_same_study(const std::string& name, const std::string& earlier,
                        const std::string& csv);

/// The earlier text with the rows of `csv`, in place of those that as many ranks measured before of
/// the same. @throws report::BadInput
std::string joined_rows(const std::string& name, const std::string& earlier,
                        const std::string& csv);

}  // namespace tessera
