#pragma once
// The Loop IR: bodies, their wire, checks, text, identity and reference execution.
#include <emmy/loop/body.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/infer.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/op.hpp>
#include <emmy/loop/op_table.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/sample.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/validate.hpp>
#include <emmy/loop/wire.hpp>
