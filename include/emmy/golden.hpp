#pragma once
#include <emmy/golden/document.hpp>
#include <emmy/golden/list.hpp>
#include <emmy/golden/lint.hpp>
#include <emmy/golden/scope.hpp>
#include <emmy/golden/select.hpp>
