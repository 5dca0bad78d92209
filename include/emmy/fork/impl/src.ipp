#pragma once
#include <emmy/fork/impl/schedule.ipp>
