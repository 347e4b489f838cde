// Panels of 4-bit weights (core/formats/int4.h), which become panels of int8 integers just before products read them. A product of many
// rows reads a panel once for every four rows, so that unpacking takes a small part of its time.
#pragma once

#include <cstdint>

#include "core/cpu/int8_gemm.h"

namespace peruse::cpu {

// Bytes of a panel: two integers in each byte, then the multipliers, [groups][tile columns] 16-bit integers.
int64_t Int4PanelBytes(Int8Path path, int64_t k);

// Writes a column, given as a row of the file's payload, to its lane of a panel.
void PackInt4Column(Int8Path path, const uint8_t* row, int64_t k, int64_t lane, uint8_t* panel);
// Returns where a column's multipliers are, Int8TileCols() apart.
int16_t* Int4PanelMultipliers(Int8Path path, int64_t k, int64_t lane, uint8_t* panel);

int64_t Int4PanelScratch(Int8Path path, int64_t k);
// Unpacks a panel into `scratch` as the kernel reads it: bytes, or for kI16 16-bit integers.
void UnpackInt4Panel(Int8Path path, const uint8_t* panel, int64_t k, void* scratch);

}  // namespace peruse::cpu
