/// Measures T_max, the time after which every core sees a store to code.
module org.mdlagent.calibrator {}
