# SPDX-License-Identifier: MIT
penstock_tests(sinks penstock_sinks penstock_os)
