#pragma once
#include <emmy/plan/impl/bind.ipp>
#include <emmy/plan/impl/check.ipp>
#include <emmy/plan/impl/network.ipp>
#include <emmy/plan/impl/packing.ipp>
#include <emmy/plan/impl/plan.ipp>
#include <emmy/plan/impl/print.ipp>
#include <emmy/plan/impl/run.ipp>
