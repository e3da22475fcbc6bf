#!/usr/bin/env python3
"""Writes a rank table for this server: `sindri ranktable generate` under the name and arguments that scripts for the reference models use.

usage: hccl_tools.py [--device_num "[0,8)"] [--visible_devices 0,1,2,3,4,5,6,7] [--server_ip ADDRESS] [--device_ips A,B,...]
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sindri_program import run_program  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Writes a rank table for this server")
    parser.add_argument("--device_num", default="[0,8)", help="half-open range of logical devices (default: %(default)s)")
    parser.add_argument("--visible_devices", default="", help="the device for each logical number: 4,5,6,7")
    parser.add_argument("--server_ip", default="", help="address of this server (default: that of the default route)")
    parser.add_argument("--device_ips", default="", help="addresses for data (default: those of /etc/hccn.conf if it exists, else the server's)")
    a = parser.parse_args()
    words = ["generate", "--device-num", a.device_num]
    for flag, value in (("--visible-devices", a.visible_devices), ("--server-ip", a.server_ip), ("--device-ips", a.device_ips)):
        if value:
            words += [flag, value]
    if not a.device_ips and os.path.isfile("/etc/hccn.conf"):
        words += ["--conf", "/etc/hccn.conf"]
    return run_program(["ranktable", *words])


if __name__ == "__main__":
    sys.exit(main())
