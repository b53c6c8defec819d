package org.mdlagent.runtime.cli.run;

/// Remedies for findings of `mdl doctor`; nothing is advised that is already so.
final class Remedies {
    private static final long SHARED_MEMORY_USUAL_MIB = 256;

    private Remedies() {}

    /// If membarrier(2) with SYNC_CORE is refused.
    ///
    /// @param version of the kernel, as `uname -r` prints it
    static String membarrier(String version) {
        return isBefore(version, 4, 16) ? "use Linux 4.16 or newer" : "allow membarrier(2) in the sandbox";
    }

    private static boolean isBefore(String version, int major, int minor) {
        String[] numbers = version.split("[^0-9]+");
        if (numbers.length < 2 || numbers[0].isEmpty()) {
            return false;
        }
        int first = Integer.parseInt(numbers[0]);
        return first < major || first == major && Integer.parseInt(numbers[1]) < minor;
    }

    /// If a session may not fit in `/dev/shm`.
    ///
    /// @param totalBytes size of the file system
    static String sharedMemory(long totalBytes) {
        long mib = totalBytes >> 20;
        return "mount -o remount,size=%dm /dev/shm"
                .formatted(mib < SHARED_MEMORY_USUAL_MIB ? SHARED_MEMORY_USUAL_MIB : 2 * mib);
    }
}
