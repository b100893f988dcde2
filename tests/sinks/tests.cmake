# SPDX-License-Identifier: MIT
# With lib/config, which knows the best batch size of each type.
penstock_tests(sinks penstock_sinks penstock_os penstock_config)
