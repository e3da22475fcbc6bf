// See report_page.h.
#include "src/app/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/device/device.h"
#include "src/app/session.h"
#include "src/core/revision.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

constexpr int64_t kMaxFile = int64_t{16} << 20;
constexpr size_t kMostLog = 200'000;  // bytes from the end of log.txt

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t v = 0;
    for (size_t k = 0; k < 3; ++k) v = v << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kLetters[v >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string file_text(const Session& s, const char* name) {
  const std::string path = s.folder->file(name);
  return train::file_exists(path, name) ? train::read_small_file(path, kMaxFile, name) : "";
}

// The columns of all rows in the order in which they first appear, "epoch" first.
std::string epoch_table(const std::vector<EventValues>& rows) {
  std::vector<std::string> columns;
  for (const EventValues& row : rows) {
    for (const auto& [name, value] : row) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  }
  std::string out = "<table><thead><tr>";
  for (const std::string& c : columns) out += "<th>" + escaped(c) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const EventValues& row : rows) {
    out += "<tr>";
    for (const std::string& c : columns) {
      const auto it = std::find_if(row.begin(), row.end(), [&](const auto& v) { return v.first == c; });
      out += "<td>" + (it == row.end() ? "" : fmt::format("{:.6g}", it->second)) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

// The first row holds the headings.
std::string plain_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>";
  for (size_t i = 0; i < rows.size(); ++i) {
    const char* const cell = i == 0 ? "th" : "td";
    out += "<tr>";
    for (const std::string& text : rows[i]) out += fmt::format("<{0}>{1}</{0}>", cell, escaped(text));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

// The optimizer's state besides its moments, and its measures.
std::string optimizer_part(const Session& s) {
  const std::vector<std::vector<std::string>> table = s.optimizer->holdings();
  if (table.empty() && s.measures_plot.empty()) return "";
  std::string out = "<h2>Optimizer and algorithms</h2>\n";
  if (!s.measures_plot.empty())
    out += fmt::format("<img alt=\"what the optimizer and the algorithms measured over the steps\" src=\"data:image/png;base64,{}\">\n",
                       base64(train::read_small_file(s.measures_plot, kMaxFile, "plot")));
  for (const std::string& line : s.optimizer->report()) out += "<p>" + escaped(line) + "</p>\n";
  if (!table.empty()) out += "<div class=\"wide\">" + plain_table(table) + "</div>\n";
  return out;
}

std::string details(const std::string& title, const std::string& text) {
  return text.empty() ? "" : fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", title, escaped(text));
}

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1.6em}.big{display:flex;gap:2em;flex-wrap:wrap}.big div{min-width:8em}.big b{display:block;"
    "font-size:1.6em}img{max-width:100%;height:auto;border:1px solid #ddd;background:#fff}.wide{overflow-x:auto}table{border-collapse:collapse;"
    "font-variant-numeric:tabular-nums}th,td{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}pre{background:#f5f6f7;"
    "padding:.8em;overflow-x:auto}summary{cursor:pointer}code{background:#f5f6f7;padding:.1em .3em}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#17191c}pre,code{background:#24272b}th,td{border-color:#3a3e44}img{border-color:#3a3e44}}";

}  // namespace

void write_report_page(const Session& s) {
  const TrainReport& r = s.report;
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
      "<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n<div class=\"big\">\n",
      escaped(s.plot.title), kStyle);
  for (const auto& [name, value] : r.metrics) page += fmt::format("<div>{}<b>{:.4f}</b></div>\n", escaped(name), value);
  page += fmt::format("<div>samples/s<b>{:.0f}</b></div>\n<div>steps<b>{}</b></div>\n<div>trained<b>{}</b></div>\n", r.samples_per_second, s.steps_done,
                      duration_text(r.train_seconds));
  if (const Device device = current_device(); !device.is_cpu())
    page += fmt::format("<div>device memory<b>{:.2f} GB</b></div>\n", static_cast<double>(device_memory_stats(device).peak_reserved) * 1e-9);
  page += "</div>\n";
  page += fmt::format("<p>{} parameters, checkpoint <code>{}</code></p>\n", s.network->num_parameters(), escaped(r.checkpoint));
  page += fmt::format("<h2>Curves</h2>\n<img alt=\"loss, accuracy and confusion matrix\" src=\"data:image/png;base64,{}\">\n",
                      base64(train::read_small_file(r.plot, kMaxFile, "plot")));
  page += "<h2>Epochs</h2>\n<div class=\"wide\">" + epoch_table(s.folder->epoch_rows()) + "</div>\n" + optimizer_part(s) + "<h2>Made with</h2>\n";
  std::string log = file_text(s, "log.txt");
  if (log.size() > kMostLog) log = "…\n" + log.substr(log.find('\n', log.size() - kMostLog) + 1);
  page += details("Settings (config.resolved.yaml)", file_text(s, "config.resolved.yaml")) +
      details("Machine and command (env.json)", file_text(s, "env.json")) + details("How to repeat it (repro.json)", file_text(s, "repro.json")) +
      details("Log (log.txt)", log);
  page += fmt::format("<p>sindri {}</p>\n</body>\n</html>\n", escaped(revision()));
  train::write_file_atomically(s.folder->file("report.html"), page, "report");
}

}  // namespace sindri::app
