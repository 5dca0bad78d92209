#pragma once
// All bodies of evidence/, compiled once.
#include <emmy/evidence/impl/compile.ipp>
#include <emmy/evidence/impl/cpu_options.ipp>
#include <emmy/evidence/impl/differences.ipp>
#include <emmy/evidence/impl/explain.ipp>
#include <emmy/evidence/impl/explain_page.ipp>
#include <emmy/evidence/impl/import.ipp>
#include <emmy/evidence/impl/index.ipp>
#include <emmy/evidence/impl/pick.ipp>
#include <emmy/evidence/impl/price.ipp>
#include <emmy/evidence/impl/record.ipp>
#include <emmy/evidence/impl/regime.ipp>
#include <emmy/evidence/impl/report.ipp>
#include <emmy/evidence/impl/resolve.ipp>
#include <emmy/evidence/impl/scope.ipp>
#include <emmy/evidence/impl/stored_forks.ipp>
#include <emmy/evidence/impl/structure.ipp>
