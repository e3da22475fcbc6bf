// The settings dist.*: how ranks find each other and what they do together.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/train/data_parallel.h"

namespace sindri::app {

/// Their rows of the table.
std::vector<SettingSpec> dist_rows();
/// Rules between them and the others. `fail(setting, message, fix)` throws.
void validate_dist(const Settings& s, const std::function<void(const char*, const std::string&, const std::string&)>& fail);
/// What comm::init wants.
comm::Options comm_options(const Settings& s);
/// What the training step wants, for so many virtual ranks.
train::DataParallelOptions data_parallel_options(const Settings& s, int64_t virtual_ranks);

}  // namespace sindri::app
