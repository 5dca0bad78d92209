#pragma once
// All bodies of loop/, compiled once.
#include <emmy/loop/impl/dims.ipp>
#include <emmy/loop/fuse/impl/fuse.ipp>
#include <emmy/loop/impl/interpret.ipp>
#include <emmy/loop/normal/impl/diff.ipp>
#include <emmy/loop/impl/print.ipp>
#include <emmy/loop/impl/sample.ipp>
#include <emmy/loop/impl/single_op.ipp>
#include <emmy/loop/typed/impl/kernel.ipp>
#include <emmy/loop/impl/validate.ipp>
#include <emmy/loop/impl/wire_read.ipp>
#include <emmy/loop/impl/wire_write.ipp>
