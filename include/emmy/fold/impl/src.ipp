#pragma once
#include <emmy/fold/impl/access.ipp>
#include <emmy/fold/impl/lift.ipp>
#include <emmy/fold/impl/print.ipp>
