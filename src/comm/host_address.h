// Addresses of hosts: which addresses a text names, and whether they belong to this machine.
#pragma once

#include <string>

namespace sindri::comm {

/// Returns a string that is equal in processes that reach each other without a network: the kernel's boot id and the
/// network namespace. So neither containers with the same name nor two names of one host mislead.
std::string machine_id();
/// Returns whether the text is a numeric IPv4 or IPv6 address.
bool is_numeric_address(const std::string& text);
/// Returns whether the text has the form of a host name: letters, digits, hyphens and dots, the last part not all
/// digits ("10.0.0.300" is not one).
bool is_host_name(const std::string& text);
/// Returns the same text for equal addresses ("::1", "0:0::1"); other texts unchanged.
std::string canonical_address(const std::string& text);
/// Returns whether the resolver knows the name. May wait for a name server.
bool resolves(const std::string& name);
/// Returns whether an interface of this machine has this address, or one that the name resolves to. All of 127.0.0.0/8 counts.
bool is_own_address(const std::string& text);
/// Returns the source address that the kernel uses for the default route, without sending anything; without such a
/// route, the only IPv4 address besides loopback. Empty if there is none, or several.
std::string default_route_address();

}  // namespace sindri::comm
