// report.html: a run on one page that opens without network. `plot.cc` draws its plot.
#pragma once

namespace sindri::app {

struct Session;

/// Writes RUN/report.html atomically: the last metrics, the plot, a table of the epochs, settings, machine and log. Throws IoError.
void write_report_page(const Session& s);

}  // namespace sindri::app
