# SPDX-License-Identifier: MIT
penstock_tests(backend penstock_core penstock_sinks penstock_config penstock_os)
