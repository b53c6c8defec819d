package org.mdlagent.profiler.report.profile;

/// Functions of an image that were left without probes.
///
/// @param image     path of the ELF file
/// @param functions how many they are
/// @param reasons   why, as the agent's log states it
public record NotProbed(String image, int functions, String reasons) {}
