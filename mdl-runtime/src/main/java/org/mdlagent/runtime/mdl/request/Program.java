package org.mdlagent.runtime.mdl.request;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The program that a request is evaluated against, as it is at that time.
public interface Program {
    List<CodeModule> modules();

    /// `main`, null when it is not known.
    @Nullable
    Procedure start();

    /// The function that ends the program, null when it is not known.
    @Nullable
    Procedure exit();

    /// The calls in a function, empty where they are not known.
    List<Point.Call> calls(Procedure procedure);

    /// Why a point cannot be instrumented, null when it can.
    @Nullable
    String obstacle(Point point);

    /// A global variable or a function, null when there is none of that name.
    @Nullable
    Symbol symbol(String name);
}
