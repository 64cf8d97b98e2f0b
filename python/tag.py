# SPDX-License-Identifier: BSD-3-Clause
"""What pyproject.toml cannot say: the wheel fits any Python 3 and one platform, which LEAT_WHEEL_PLATFORM names."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    """Sets the wheel's tag."""

    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["LEAT_WHEEL_PLATFORM"]
