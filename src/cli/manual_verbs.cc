// See manual_verbs.h.
#include "src/cli/manual_verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/version.h"
#include "src/cli/process.h"

namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Roff reads backslashes anywhere, and dots and quotes at the start of a line. A bare "-" becomes a hyphen, which shells do not accept.
std::string roff(const std::string& text) {
  std::string out;
  bool start = true;
  for (const char c : text) {
    if (start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
    start = c == '\n';
  }
  return out;
}

// A description has the form "What it does in a line[ and more]\n\nExamples:\n  command\n  command\n[\nmore]".
struct Text {
  std::string summary, examples, rest;
};
Text text_of(const CLI::App& app) {
  const std::string all = app.get_description(), mark = "\n\nExamples:\n";
  Text t;
  const size_t at = all.find(mark);
  t.summary = all.substr(0, std::min(at, all.find('\n')));
  if (at == std::string::npos) return t;
  const size_t from = at + mark.size(), blank = all.find("\n\n", from);
  t.examples = all.substr(from, blank == std::string::npos ? blank : blank - from);
  while (t.examples.ends_with('\n')) t.examples.pop_back();
  if (blank != std::string::npos) t.rest = all.substr(blank + 2);
  return t;
}

std::string words_of(const CLI::Option& o) {
  std::string out = o.get_positional() ? o.get_name(true) : fmt::format("\\fB{}\\fR", roff(o.get_name(false, true)));
  if (o.get_positional()) return fmt::format("\\fI{}\\fR", roff(o.get_type_name()));
  if (!o.get_type_name().empty()) out += fmt::format(" \\fI{}\\fR", roff(o.get_type_name()));
  return out;
}

std::string options(const CLI::App& app) {
  std::string out;
  for (const std::string& group : app.get_groups()) {
    std::string entries;
    for (const CLI::Option* o : app.get_options([&](const CLI::Option* x) { return x->get_group() == group; })) {
      entries += fmt::format(".TP\n{}\n{}", words_of(*o), roff(o->get_description()));
      if (!o->get_default_str().empty()) entries += fmt::format(" (default: {})", roff(o->get_default_str()));
      entries += "\n";
    }
    if (!entries.empty()) out += fmt::format(".SS {}\n{}", roff(group), entries);
  }
  return out.empty() ? out : ".SH OPTIONS\n" + out;
}

std::string synopsis(const CLI::App& app, const std::string& name) {
  std::string out = fmt::format("\\fB{}\\fR [\\fIOPTIONS\\fR]", roff(name));
  for (const CLI::Option* o : app.get_options([](const CLI::Option* x) { return x->get_positional(); }))
    out += o->get_required() ? fmt::format(" \\fI{}\\fR", roff(o->get_type_name())) : fmt::format(" [\\fI{}\\fR]", roff(o->get_type_name()));
  if (!verbs_of(app).empty()) out += " \\fIVERB\\fR";
  return out;
}

// `name` as it is called: "sindri train".
std::string man_page(const CLI::App& app, const std::string& name) {
  const Text text = text_of(app);
  std::string page = name, upper;
  std::replace(page.begin(), page.end(), ' ', '-');
  for (const char c : page) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = fmt::format(".TH {} 1 \"\" \"sindri {}\" \"Sindri\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}.\n", roff(upper),
                                SINDRI_VERSION_STRING, roff(page), roff(text.summary), synopsis(app, name), roff(text.summary));
  if (!text.rest.empty()) out += fmt::format(".PP\n{}\n", roff(text.rest));
  out += options(app);
  const auto verbs = verbs_of(app);
  if (!verbs.empty()) out += ".SH VERBS\n";
  for (const CLI::App* v : verbs) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(v->get_name()), roff(text_of(*v).summary));
    if (name != "sindri") {  // nested verbs have no separate pages
      for (const CLI::Option* o : v->get_options([](const CLI::Option* x) { return x->get_name() != "--help"; }))
        out += fmt::format(".br\n{}: {}\n", words_of(*o), roff(o->get_description()));
    }
  }
  if (!text.examples.empty()) out += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(text.examples));
  out +=
      ".SH EXIT STATUS\n0 done, 1 internal error, 2 usage or settings, 3 data, 4 checkpoint or model file, 5 memory, disk or permission,\n"
      "6 NaN or infinity, 7 other ranks, 130 and 143 stopped by a signal after saving.\n.SH SEE ALSO\n";
  if (name == "sindri") {
    std::vector<std::string> pages;
    for (const CLI::App* v : verbs) pages.push_back(fmt::format("\\fBsindri\\-{}\\fR(1)", roff(v->get_name())));
    return out + fmt::format("{}\n", fmt::join(pages, ",\n"));
  }
  return out + "\\fBsindri\\fR(1)\n";
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* o : app.get_options())
    for (const std::string& flag : o->get_lnames()) out.push_back("--" + flag);
  return out;
}

// Completes verbs, nested verbs, and flags; other words are completed as file names.
std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> verbs = flags_of(app);
  std::string cases;
  for (const CLI::App* v : verbs_of(app)) {
    verbs.push_back(v->get_name());
    std::vector<std::string> words = flags_of(*v);
    for (const CLI::App* below : verbs_of(*v)) {
      words.push_back(below->get_name());
      for (const std::string& flag : flags_of(*below)) words.push_back(flag);
    }
    cases += fmt::format("    {}) words=\"{}\" ;;\n", v->get_name(), fmt::join(words, " "));
  }
  return fmt::format(
      "# bash completion for sindri, written by `sindri completion`.\n_sindri() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} words=\"\"\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n    words=\"{}\"\n  else\n    case ${{COMP_WORDS[1]}} in\n{}    esac\n  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}}\ncomplete -o default -F _sindri sindri\n",
      fmt::join(verbs, " "), cases);
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw sindri::IoError(fmt::format("cannot write {}", path.string()), path.string(), "choose a folder that exists and may be written to");
}

}  // namespace

void ManualVerbs::add_to(CLI::App* app) {
  manual_ = app->add_subcommand("manual", "Print a man page\n\nExamples:\n  sindri manual train | man -l -\n  sindri manual --all ~/.local/share/man/man1\n");
  manual_->add_option("verb", verb_, "verb to describe; without it, the program")->type_name("VERB");
  manual_->add_option("--all", folder_, "write all pages to this folder instead: sindri.1, sindri-train.1, ...")->type_name("DIR");
  completion_ = app->add_subcommand("completion",
                                    "Print bash completions for verbs and flags\n\nExamples:\n  source <(sindri completion)\n"
                                    "  sindri completion > ~/.local/share/bash-completion/completions/sindri\n");
}

int ManualVerbs::run(const CLI::App& app) {
  if (completion_->parsed()) {
    print_out(bash_completion(app));
    return 0;
  }
  if (!folder_.empty()) {
    const std::filesystem::path folder = folder_;
    write_text(folder / "sindri.1", man_page(app, "sindri"));
    for (const CLI::App* v : verbs_of(app)) write_text(folder / fmt::format("sindri-{}.1", v->get_name()), man_page(*v, "sindri " + v->get_name()));
    return 0;
  }
  if (verb_.empty()) {
    print_out(man_page(app, "sindri"));
    return 0;
  }
  std::vector<std::string> names;
  for (const CLI::App* v : verbs_of(app)) {
    names.push_back(v->get_name());
    if (v->get_name() != verb_) continue;
    print_out(man_page(*v, "sindri " + verb_));
    return 0;
  }
  throw sindri::Error(sindri::ErrorCode::kUsage, fmt::format("unknown verb '{}'", verb_), "sindri manual", sindri::did_you_mean(verb_, names));
}
