// SPDX-License-Identifier: MIT
// The tables that NanoLog's preprocessor would make. Its C++17 variant does without them, but its decoder wants them to be there.
#include <GeneratedCode.h>

namespace GeneratedFunctions {

std::size_t numLogIds = 0;
LogMetadata logId2Metadata[1] = {};
ssize_t (*compressFnArray[1])(NanoLogInternal::Log::UncompressedEntry*, char*) = {nullptr};
void (*decompressAndPrintFnArray[1])(const char**, FILE*, void (*)(const char*, ...)) = {nullptr};
long int writeDictionary(char*, char*) { return 0; }

}  // namespace GeneratedFunctions
