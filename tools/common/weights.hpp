#pragma once
#include <common/unit.hpp>

/// Weights of a program from a file, in place of seeded ones.
namespace emmy::tools {

/// Binds every checkpoint tensor of the unit by its path: bytes of an archive of torch.export.save (.pt2), or of a safetensors checkpoint (a file,
/// an index, a directory). Reals of another width are converted by value, everything else is taken as it is. Errors (user): a unit without a program.
/// (input): the file's; a path that it does not hold, another shape, a type that does not convert, a tensor with load steps.
result<void> bind_weights(unit& into, const std::string& file);

}  // namespace emmy::tools
