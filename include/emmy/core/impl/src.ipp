#pragma once
// All bodies of core/, compiled once.
#include <emmy/core/impl/archive_audit.ipp>
#include <emmy/core/impl/archive_crc32.ipp>
#include <emmy/core/impl/archive_pickle.ipp>
#include <emmy/core/impl/archive_pt.ipp>
#include <emmy/core/impl/archive_safetensors.ipp>
#include <emmy/core/impl/archive_source.ipp>
#include <emmy/core/impl/archive_zip.ipp>
#include <emmy/core/impl/archive_zip_writer.ipp>
#include <emmy/core/impl/digest.ipp>
#include <emmy/core/impl/dim_wire.ipp>
#include <emmy/core/impl/directory.ipp>
#include <emmy/core/impl/expr.ipp>
#include <emmy/core/impl/file.ipp>
#include <emmy/core/impl/hasher.ipp>
#include <emmy/core/impl/json.ipp>
