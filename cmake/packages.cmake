# Debian packages by CPack: `scripts/package.sh deb` runs `cpack` in a build folder that is configured with the distribution's library folder.
set(CPACK_VERBATIM_VARIABLES TRUE)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sindri)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # set separately for each package
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# The user who builds the package, from the variables that Debian's tools read.
set(packager "Sindri packagers <sindri@example.org>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(packager "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_CONTACT "${packager}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library mpi dev program)  # `scripts/package.sh deb --cuda` adds cuda
if(NOT TARGET sindri_mpi)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE none)  # scripts/package.sh compresses the packages again
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})  # libsindri itself, which no installed package provides
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_SINDRI_DEB_FILES ${CMAKE_BINARY_DIR}/deb)
set(CPACK_SINDRI_PACKAGE_SCRIPTS ${PROJECT_SOURCE_DIR}/scripts/package)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/prepare_deb.cmake)

set(this_version "${PROJECT_VERSION}-1")
set(soname_package libsindri${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${soname_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libsindri-mpi, libsindri-cuda")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/deb/triggers ${CMAKE_BINARY_DIR}/deb/shlibs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "deep-learning training in C++ - library
Sindri trains neural networks in MindSpore's manner: Cells with gradients,
Model.train with callbacks, graph and PyNative mode, .ckpt files that
MindSpore reads and writes. It runs on the CPU; libsindri-cuda adds NVIDIA
GPUs.
.
This package holds the shared library, its gloo backend, and of OpenCV the
two libraries it needs.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME libsindri-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${soname_package} (= ${this_version})")
set(CPACK_DEBIAN_MPI_DESCRIPTION "deep-learning training in C++ - MPI backend
Sindri trains neural networks in MindSpore's manner.
.
This package lets several ranks communicate by Open MPI. Without it they
communicate by shared memory and Gloo.")
# NVIDIA's repository names packages by CUDA's minor version; libraries of any 13.x work (src/device/cuda/libraries.cc). Its cuDNN needs driver 580, which
# containers get from their host.
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME libsindri-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION non-free/libs)  # the plugin contains NVIDIA's static CUDA runtime
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "${soname_package} (= ${this_version})")
foreach(library libcublas cuda-nvrtc libcusolver)
  set(${library}_packages "")
  foreach(minor RANGE 0 9)
    list(APPEND ${library}_packages "${library}-13-${minor}")
  endforeach()
  list(JOIN ${library}_packages " | " ${library}_packages)
endforeach()
set(CPACK_DEBIAN_CUDA_PACKAGE_RECOMMENDS "libcudnn9-cuda-13 (>= 9.12), ${libcublas_packages}, ${cuda-nvrtc_packages}")
set(CPACK_DEBIAN_CUDA_PACKAGE_SUGGESTS "nvidia-driver (>= 580) | cuda-drivers (>= 580), ${libcusolver_packages}, libnccl2 (>= 2.18)")
set(CPACK_DEBIAN_CUDA_DESCRIPTION "deep-learning training in C++ - CUDA backend
Sindri trains neural networks in MindSpore's manner.
.
This package lets it train on NVIDIA GPUs of compute capability 8.0 or
later. It needs NVIDIA's driver 580 or later, and cuDNN 9 and cuBLAS of
CUDA 13 for speed. \"sindri doctor\" says what is missing.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsindri-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${soname_package} (= ${this_version})")
set(CPACK_DEBIAN_DEV_DESCRIPTION "deep-learning training in C++ - development files
Sindri trains neural networks in MindSpore's manner.
.
This package holds the public headers, which need C++20 and the standard
library alone, and the files for CMake's find_package and for pkg-config.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sindri)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${soname_package} (= ${this_version})")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3")  # hccl_tools.py and merge_hccl.py
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "deep-learning training in C++ - program
Sindri trains neural networks in MindSpore's manner. \"sindri train
quickstart\" trains a small network on handwritten digits that come with it.
.
This package holds the program with its man pages and bash completion, the
digits, settings for trainings, launch scripts, examples and documentation.")

# A trigger runs ldconfig, and dpkg-shlibdeps of other packages finds this package by the library's name.
file(WRITE ${CMAKE_BINARY_DIR}/deb/triggers "activate-noawait ldconfig\n")
file(WRITE ${CMAKE_BINARY_DIR}/deb/shlibs "libsindri ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${soname_package} (>= ${PROJECT_VERSION})\n")
file(WRITE ${CMAKE_BINARY_DIR}/deb/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Sindri

Files: *
Copyright: the Sindri developers
License: Apache-2.0
 On Debian systems, the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.

Files: usr/share/sindri/digits/*
Copyright: 1998 E. Alpaydin, C. Kaynak
License: CC-BY-4.0
 The digits are the test part of the dataset Optical Recognition of
 Handwritten Digits of the UCI Machine Learning Repository. The license is at
 https://creativecommons.org/licenses/by/4.0/legalcode.
")
file(READ ${CMAKE_BINARY_DIR}/deb/copyright copyright)
file(WRITE ${CMAKE_BINARY_DIR}/deb/copyright.cuda "${copyright}
Files: usr/lib/*/sindri/libsindri_cuda.so
Copyright: the Sindri developers
           NVIDIA Corporation
License: Apache-2.0 and NVIDIA-CUDA-EULA
 The library is Sindri's, under the Apache License 2.0 as above. It holds
 NVIDIA's CUDA runtime (libcudart_static.a), which Attachment A of the CUDA
 Toolkit End User License Agreement, https://docs.nvidia.com/cuda/eula/,
 permits to distribute with applications, and templates of NVIDIA's CCCL
 under the Apache License 2.0 with LLVM exceptions.
")
# Debian's own copyright files of the bundled libraries (prepare_deb.cmake) are installed next to this one.
file(WRITE ${CMAKE_BINARY_DIR}/deb/changelog "sindri (${this_version}) unstable; urgency=medium

  * Built from the sources of this version.

 -- ${packager}  Thu, 01 Jan 2026 00:00:00 +0000
")
include(CPack)
