#pragma once
// Archives of strangers and our own: zip, and PyTorch's .pt on top of it.
#include <emmy/core/archive/chunk.hpp>
#include <emmy/core/archive/crc32.hpp>
#include <emmy/core/archive/element.hpp>
#include <emmy/core/archive/pickle.hpp>
#include <emmy/core/archive/pt.hpp>
#include <emmy/core/archive/safetensors.hpp>
#include <emmy/core/archive/source.hpp>
#include <emmy/core/archive/zip.hpp>
#include <emmy/core/archive/zip_writer.hpp>
