package org.mdlagent.runtime.mdl.request;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.options.FunctionGlob;

/// Libraries, modules and functions that files exclude from instrumentation.
final class Exclusions {
    private final List<Predicate<String>> matchers;

    Exclusions(List<Definition.Exclude> excludes) {
        matchers = excludes.stream().map(Exclusions::matcher).toList();
    }

    private static Predicate<String> matcher(Definition.Exclude exclude) {
        if (exclude.regex()) {
            return Pattern.compile(exclude.what(), exclude.ignoringCase() ? Pattern.CASE_INSENSITIVE : 0)
                    .asPredicate();
        }
        return exclude.ignoringCase()
                ? name -> name.equalsIgnoreCase(exclude.what())
                : name -> FunctionGlob.meansName(exclude.what(), name);
    }

    boolean covers(Procedure procedure) {
        if (matchers.isEmpty()) {
            return false;
        }
        String image = procedure.image();
        List<String> names = List.of(
                procedure.name(),
                procedure.symbol(),
                FunctionGlob.original(procedure.name()),
                procedure.path(),
                procedure.pathOfCopies(),
                "/Code/" + procedure.module(),
                image,
                image.substring(image.lastIndexOf('/') + 1));
        return matchers.stream().anyMatch(matcher -> names.stream().anyMatch(matcher));
    }
}
