#pragma once
/// Programs from archives of torch.export.save.
#include <emmy/program/import/archive.hpp>
#include <emmy/program/import/exported.hpp>
#include <emmy/program/import/import.hpp>
#include <emmy/program/import/symbolic.hpp>
