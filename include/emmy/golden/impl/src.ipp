#pragma once
#include <emmy/golden/impl/knob_check.ipp>
#include <emmy/golden/impl/document.ipp>
#include <emmy/golden/impl/scope.ipp>
#include <emmy/golden/impl/select.ipp>
#include <emmy/golden/impl/list.ipp>
#include <emmy/golden/impl/lint.ipp>
#include <emmy/golden/impl/emit_header.ipp>
