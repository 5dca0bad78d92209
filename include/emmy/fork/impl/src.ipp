#pragma once
#include <emmy/fork/impl/schedule.ipp>
#include <emmy/fork/structure/impl/structure.ipp>
