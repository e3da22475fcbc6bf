// The process itself: its standard streams, its signals, and its output.
#pragma once

#include <string>
#include <string_view>

#include "sindri/core/error.h"

/// Must be called before anything opens a file. Streams that were closed become /dev/null: otherwise a file could get their number and receive the output. A
/// write beyond the file size limit (ulimit -f) then fails with an error that names the file, instead of ending the process.
void prepare_process();

/// Lets a run continue if nothing reads its output any more (`sindri train ... | head -1`): losing the work would be worse than losing the lines.
void outlive_reader();

/// Prints to standard output; finish_output reports failures.
void print_out(std::string_view text);
void print_err(std::string_view text);
/// Prints an error to stderr, folded between words on a terminal.
void print_error(const sindri::Error& e);

/// Returns the program's exit code: `code`, or that of an error, which is reported, if not all output could be written.
int finish_output(int code);
