// Causal attention written with the typed Loop IR has, as a constant expression, the identity of the stored one.
#include "../support/typed_kernels_attention.hpp"
