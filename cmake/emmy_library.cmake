# emmy::knob (headers only) and emmy::emmy (everything): one object library a folder, from include/emmy/<folder>/impl/src.ipp.
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

add_library(emmy_options INTERFACE)
# g++ 12 reports -Wrestrict on std::string operator+ without reason (GCC bug 105651).
target_compile_options(emmy_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

add_library(emmy_knob INTERFACE)
add_library(emmy::knob ALIAS emmy_knob)
set_target_properties(emmy_knob PROPERTIES EXPORT_NAME knob)
target_compile_features(emmy_knob INTERFACE cxx_std_20)
target_include_directories(emmy_knob INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(EMMY_LIBRARIES_core Boost::json OpenSSL::Crypto)
set(EMMY_LIBRARIES_store PkgConfig::LMDB PkgConfig::ZSTD)
set(EMMY_LIBRARIES_device Threads::Threads ${CMAKE_DL_LIBS})

add_library(emmy STATIC)
add_library(emmy::emmy ALIAS emmy)
target_link_libraries(emmy PUBLIC emmy_knob)
foreach(folder IN LISTS EMMY_FOLDERS)
  set(bodies ${PROJECT_SOURCE_DIR}/include/emmy/${folder}/impl/src.ipp)
  add_library(emmy_folder_${folder} INTERFACE)  # what a test of this folder links: its object and those of the folders it may include
  target_link_libraries(emmy_folder_${folder} INTERFACE emmy_knob ${EMMY_LIBRARIES_${folder}})
  foreach(below IN LISTS EMMY_MAY_INCLUDE_${folder})
    target_link_libraries(emmy_folder_${folder} INTERFACE emmy_folder_${below})
  endforeach()
  if(EXISTS ${bodies})
    set(unit ${PROJECT_BINARY_DIR}/units/${folder}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include <emmy/${folder}/impl/src.ipp>\n")
    add_library(emmy_${folder}_object OBJECT ${unit})
    set_target_properties(emmy_${folder}_object PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(emmy_${folder}_object PUBLIC emmy_knob PRIVATE emmy_options ${EMMY_LIBRARIES_${folder}})
    target_sources(emmy_folder_${folder} INTERFACE $<TARGET_OBJECTS:emmy_${folder}_object>)
    target_sources(emmy PRIVATE $<TARGET_OBJECTS:emmy_${folder}_object>)
    target_link_libraries(emmy PRIVATE ${EMMY_LIBRARIES_${folder}})
  endif()
endforeach()
