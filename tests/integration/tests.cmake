# SPDX-License-Identifier: MIT
# The whole library by its public interface, as a program uses it.
penstock_tests(integration penstock::penstock)
