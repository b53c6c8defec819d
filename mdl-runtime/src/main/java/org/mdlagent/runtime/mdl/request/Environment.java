package org.mdlagent.runtime.mdl.request;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The values of names while the statements of a definition are executed for a request.
///
/// @param variables of foreach
/// @param values    counters and timers
/// @param selected  values of `$constraint[0]`, `[1]`, ...
/// @param id        number of the request
record Environment(Map<String, WhereValue> variables, Map<String, Value> values, List<WhereValue> selected, int id) {
    Environment withVariable(String name, WhereValue value) {
        Map<String, WhereValue> more = new HashMap<>(variables);
        more.put(name, value);
        return new Environment(more, values, selected, id);
    }

    Environment withValue(String name, @Nullable Value value) {
        Map<String, Value> more = new LinkedHashMap<>(values);
        if (value != null) {
            more.put(name, value);
        }
        return new Environment(variables, more, selected, id);
    }

    Environment selecting(List<WhereValue> resources) {
        return new Environment(variables, values, resources, id);
    }
}
