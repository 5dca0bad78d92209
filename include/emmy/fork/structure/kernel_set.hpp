#pragma once
#include <emmy/fold/kernel_form.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a structural decision leaves: the kernels that take a kernel's place, and the buffers between them.
namespace emmy::fork {

enum class piece_role : std::uint8_t {
    owned,      ///< writes outputs of the parent
    workspace,  ///< writes buffers that other pieces read (several producers of one arm may be one kernel)
    remainder,  ///< what is left of the parent
    partial,    ///< shares of a split reduction, into a workspace
    finalize,   ///< merges the shares and goes on
    atomic,     ///< shares added into the output
    region,     ///< an independent branch of a split kernel, whole
    relaid      ///< the kernel over a constant as it is stored
};

/// One kernel of the set. Its C name is form.kernel.name (a label), its inputs and outputs are form.kernel's.
struct piece {
    fold::kernel_form form;
    piece_role role = piece_role::remainder;
    bool splits = true;  ///< false: a piece of a cross-CTA split, which never splits again
};

/// A buffer that one piece writes and others read; type and shape (symbols included) are those of the producer's output.
struct workspace {
    std::string name;
    std::uint32_t producer = 0, output = 0;  ///< pieces[producer].form.kernel.outputs[output]
    struct reader {
        std::uint32_t piece = 0, input = 0;  ///< pieces[piece].form.kernel.inputs[input]
    };
    std::vector<reader> readers{};
};

/// A constant read as it is stored: `source` replaces input `folded` of the parent, its last transpose undone.
struct relaid_input {
    std::string folded, source;
};

/// Pieces in child order: each buffer is written before it is read.
struct kernel_set {
    std::vector<piece> pieces;
    std::vector<workspace> workspaces;
    std::vector<relaid_input> relaid;

    const loop::buffer& buffer(const workspace& w) const { return pieces[w.producer].form.kernel.outputs[w.output]; }
};

}  // namespace emmy::fork
