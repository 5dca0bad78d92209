#pragma once
#include <emmy/program/impl/read.ipp>
#include <emmy/program/impl/write.ipp>
