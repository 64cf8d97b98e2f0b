# SPDX-License-Identifier: BSD-3-Clause
"""What options of the programs here may be: types for argparse that refuse what would fail later or never end."""
import argparse
import math
import urllib.parse

# What takes longer is meant never to end, and no server shall be told to wait for ever.
DAY_S = 86400


def _between(kind, name, least, most):
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no {name} from {least} to {most}")
        return value
    return read


def whole(least, most):
    """A whole number of that range."""
    return _between(int, "whole number", least, most)


def seconds(least=0):
    """A number of seconds from `least` up to a day."""
    return _between(float, "number of seconds", least, DAY_S)


def http_url(text):
    """A URL of a server that speaks HTTP without TLS."""
    try:
        url = urllib.parse.urlsplit(text)
        # urlsplit() reads the port only when it is asked for.
        right = url.scheme == "http" and url.hostname and url.port != 0
    except ValueError:
        right = False
    if not right:
        raise argparse.ArgumentTypeError(f"{text!r} is no URL such as http://127.0.0.1:8000")
    return text
