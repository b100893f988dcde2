# SPDX-License-Identifier: MIT
penstock_tests(os penstock_os)
