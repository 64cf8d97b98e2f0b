# SPDX-License-Identifier: BSD-3-Clause
"""Two devices for tests, where the machine has one."""
import os
import re
import shutil
import subprocess


def count(python, environment):
    """How many usable devices the package finds."""
    told = subprocess.run([python, "-m", "onnxruntime_ep_leat", "--devices"], env=environment, stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return len(re.findall(r"^Device \d+:", told, re.M))


def several(python, environment, folder):
    """`environment`, and how many devices there are in it. Where that is one, its driver is taken twice, by a copy of
    the file that names it to the Vulkan loader; so there stays one only where the environment names no such file."""
    there = count(python, environment)
    driver = environment.get("VK_DRIVER_FILES") or environment.get("VK_ICD_FILENAMES") or ""
    if there == 1 and os.path.isfile(driver):
        os.makedirs(folder, exist_ok=True)
        both = os.pathsep.join([driver, shutil.copy(driver, os.path.join(folder, "again.json"))])
        environment = {**environment, "VK_DRIVER_FILES": both, "VK_ICD_FILENAMES": both}
        there = count(python, environment)
    return environment, there
