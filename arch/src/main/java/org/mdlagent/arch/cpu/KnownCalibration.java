package org.mdlagent.arch.cpu;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A calibration of this very processor, and its file.
public record KnownCalibration(Path file, Calibration calibration) {
    /// The first calibration of this processor; null if no file holds one.
    ///
    /// @param here    the processor of this process
    /// @param files   possible files, the preferred one first
    /// @param ignored receives a sentence for each file that does not apply
    public static @Nullable KnownCalibration find(CpuIdentity here, List<Path> files, Consumer<String> ignored) {
        for (Path file : files) {
            try {
                Calibration calibration = Calibration.read(file);
                String difference = here.differenceTo(calibration.cpu());
                if (difference == null) {
                    return new KnownCalibration(file, calibration);
                }
                ignored.accept(file + " is ignored: T_max of another " + difference);
            } catch (NoSuchFileException e) {
                // the next one, or none
            } catch (AccessDeniedException e) {
                ignored.accept(file + " is ignored: no permission to read it");
            } catch (IOException e) {
                ignored.accept(file + " is ignored: " + e.getMessage());
            }
        }
        return null;
    }
}
