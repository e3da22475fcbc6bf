// Addresses of hosts: what a text names, and whether it is this machine.
#pragma once

#include <string>

namespace sindri::comm {

/// The same text in processes that reach each other without a network: the kernel's boot and the network namespace, so that neither containers of one
/// name nor two names of one host mislead.
std::string machine_id();
/// IPv4 or IPv6 in numbers.
bool is_numeric_address(const std::string& text);
/// Letters, digits, hyphens and dots as host names have them, the last part not all digits ("10.0.0.300" is none).
bool is_host_name(const std::string& text);
/// The same text for the same address ("::1", "0:0::1"); other texts unchanged.
std::string canonical_address(const std::string& text);
/// Whether the resolver knows the name. May wait for a name server.
bool resolves(const std::string& name);
/// Whether an interface of this machine has this address, or one that the name stands for. All of 127.0.0.0/8 is here.
bool is_own_address(const std::string& text);
/// The source address the kernel takes for the default route, without sending anything; without such a route the only IPv4 address beside loopback. Empty
/// where there is none, or none to prefer.
std::string default_route_address();

}  // namespace sindri::comm
