#pragma once

namespace emmy::loop {

/// Which notion of sameness identities follow (loop/identity.hpp says what counts in it). Digests of different versions never compare: files
/// that state digests state their version.
constexpr int identity_version = 1;

}  // namespace emmy::loop
