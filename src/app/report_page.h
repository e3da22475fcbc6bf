// report.html: a run on one page that opens without network. The picture in it is picture.cc's.
#pragma once

namespace sindri::app {

struct Session;

/// Writes RUN/report.html, whole or not at all: the last metrics, the picture, a table of the epochs, settings, machine and log. Throws IoError.
void write_report_page(const Session& s);

}  // namespace sindri::app
