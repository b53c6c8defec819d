/// Measures T_max, the time after which every core sees a store to code: the command `mdl calibrate`.
module org.mdlagent.calibrator {
    requires org.mdlagent.arch;
    requires HdrHistogram;
    requires info.picocli;
    requires static transitive org.jspecify;

    opens org.mdlagent.calibrator to
            info.picocli;

    provides java.util.concurrent.Callable with
            org.mdlagent.calibrator.CalibrateCommand;
}
