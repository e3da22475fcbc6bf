// Version of the library. A check at configure time keeps it equal to project(VERSION).
#pragma once
#define SINDRI_VERSION_MAJOR 0
#define SINDRI_VERSION_MINOR 1
#define SINDRI_VERSION_PATCH 0
#define SINDRI_VERSION_STRING "0.1.0"
