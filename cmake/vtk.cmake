# VTK, with which the tests read solution.vtu: the targets VTK::CommonCore and so on.
#
# On Debian, `.ci/install_packages` installs VTK's libraries and unpacks the headers in .cache/libvtk9-dev. The package
# of the headers is not installed, for it depends on Python bindings that conflict with those of ParaView, and on
# some 175 packages that are not needed here. Elsewhere, and where VTK_DIR or VTK_ROOT names a VTK, it is found as usual.
set(tessera_vtk_headers ${PROJECT_SOURCE_DIR}/.cache/libvtk9-dev/usr/include/vtk-9.1)
if(VTK_DIR OR VTK_ROOT OR NOT EXISTS ${tessera_vtk_headers}/vtkVersionMacros.h)
  find_package(VTK 9.1 REQUIRED COMPONENTS CommonCore CommonDataModel CommonExecutionModel IOCore IOXML)
  message(STATUS "VTK: ${VTK_VERSION} in ${VTK_DIR}")
  return()
endif()

foreach(module sys CommonCore CommonDataModel CommonExecutionModel IOCore IOXML)
  # By the name that programs load it by: the name without the version belongs to libvtk9-dev.
  set(name libvtk${module}-9.1.so.1)
  find_library(TESSERA_VTK_${module} ${name})
  mark_as_advanced(TESSERA_VTK_${module})
  if(NOT TESSERA_VTK_${module})
    message(FATAL_ERROR "VTK: its headers are in .cache/libvtk9-dev, but there is no ${name}: run .ci/install_packages")
  endif()
  add_library(VTK::${module} SHARED IMPORTED)
  set_target_properties(VTK::${module} PROPERTIES IMPORTED_LOCATION ${TESSERA_VTK_${module}}
                                                  INTERFACE_INCLUDE_DIRECTORIES ${tessera_vtk_headers})
endforeach()
target_link_libraries(VTK::CommonCore INTERFACE VTK::sys)
message(STATUS "VTK: libraries of libvtk9.1, headers in .cache/libvtk9-dev")
