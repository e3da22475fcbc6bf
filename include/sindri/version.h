// Version of the library; kept equal to project(VERSION) by a check at configure time.
#pragma once
#define SINDRI_VERSION_MAJOR 0
#define SINDRI_VERSION_MINOR 1
#define SINDRI_VERSION_PATCH 0
#define SINDRI_VERSION_STRING "0.1.0"
