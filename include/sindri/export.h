// Marks the symbols that libsindri exports; all others are hidden.
#pragma once
#if defined(_WIN32)
#error "Sindri supports Linux only"
#endif
#define SINDRI_API __attribute__((visibility("default")))
