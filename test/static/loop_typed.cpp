// Kernels of every model, written with the typed Loop IR, have as constant expressions the identities of the stored ones.
#include "../support/typed_kernels.hpp"
