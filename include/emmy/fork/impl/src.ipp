#pragma once
#include <emmy/fork/impl/schedule.ipp>
#include <emmy/fork/impl/structure.ipp>
