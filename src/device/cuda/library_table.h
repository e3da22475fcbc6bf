// Format of the tables of function pointers: NAME_FUNCTIONS(X) lists the functions without their prefix, one X(name) each.
#pragma once

// Expands its argument first: cuda.h and cublas define the current form of some functions by macros (cuModuleLoadData
// is plain, cuMemAlloc is cuMemAlloc_v2).
#define SINDRI_SYMBOL_TEXT(symbol) SINDRI_SYMBOL_TEXT_(symbol)
#define SINDRI_SYMBOL_TEXT_(symbol) #symbol
