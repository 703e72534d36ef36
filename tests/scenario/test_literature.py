#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The shapes of the literature: every file of scenarios/literature does what it says, on 1 and 2 lcores."""
import sys

import test_acceptance

if __name__ == "__main__":
    sys.exit(test_acceptance.main(("literature",)))
