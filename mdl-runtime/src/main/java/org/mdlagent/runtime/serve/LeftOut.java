package org.mdlagent.runtime.serve;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// Sessions whose figures cannot be rendered. A session is written by its program, so it may contain anything: bad
/// figures of one program must not affect others. Such sessions are retried with the next figures, and reported
/// once.
final class LeftOut {
    private final Consumer<String> messages;
    private final Set<String> said = ConcurrentHashMap.newKeySet();

    LeftOut(Consumer<String> messages) {
        this.messages = messages;
    }

    void add(String session, RuntimeException reason) {
        String message = "the session " + session + " is left out: " + reason.getMessage();
        if (said.add(message)) {
            messages.accept(message);
        }
    }
}
