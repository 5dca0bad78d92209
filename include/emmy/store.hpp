#pragma once
// The public header of store/: the evidence store on LMDB.
#include <emmy/store/check.hpp>
#include <emmy/store/environment.hpp>
#include <emmy/store/layout.hpp>
#include <emmy/store/records.hpp>
#include <emmy/store/tables.hpp>
#include <emmy/store/write_rules.hpp>
