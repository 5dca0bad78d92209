#pragma once
#include <emmy/fold/impl/access.ipp>
#include <emmy/fold/impl/lift.ipp>
#include <emmy/fold/impl/order.ipp>
#include <emmy/fold/impl/print.ipp>
#include <emmy/fold/impl/stages.ipp>
