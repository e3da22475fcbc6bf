// The program as a process: its standard streams, its signals, and what it prints.
#pragma once

#include <string>
#include <string_view>

#include "sindri/core/error.h"

/// Before anything opens a file. Streams that were closed become /dev/null: a file that got their number would receive what is printed. A
/// file that reaches the size limit (ulimit -f) makes its write fail, with an error that names it, instead of ending the process.
void prepare_process();

/// Output of a training goes on without its reader (`sindri train ... | head -1`): losing the work would be worse than losing the lines.
void outlive_reader();

/// Prints to the standard output; what fails is reported by finish_output.
void print_out(std::string_view text);
void print_err(std::string_view text);
/// An error to stderr, folded between words where that is a terminal.
void print_error(const sindri::Error& e);

/// Exit code of the program: `code`, or that of an error which is reported when not all output could be written.
int finish_output(int code);
