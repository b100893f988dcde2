# SPDX-License-Identifier: MIT
penstock_tests(transport ALONE Parking.* penstock_core penstock_sinks penstock_config penstock_os)
