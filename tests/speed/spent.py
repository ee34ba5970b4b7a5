# SPDX-License-Identifier: Apache-2.0
"""Time of one thread, for benchmarks on machines that others use too."""
import time

import numpy as np


def spend(run, x, spent):
    """run(*x), whose time is noted."""
    start = time.thread_time()
    found = run(*x)
    spent.append(time.thread_time() - start)
    return found


def least_sum(spent, count):
    """The sum over `count` inputs of the least time of each, which come round again."""
    return np.array(spent).reshape(-1, count).min(0).sum()
