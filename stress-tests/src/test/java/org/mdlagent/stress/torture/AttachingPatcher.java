package org.mdlagent.stress.torture;

/// Attaches to the text that executors execute, toggles its sites, and detaches.
final class AttachingPatcher extends CallPatcher {
    /// Even: sites are off when the file's text comes back.
    private static final int ROUNDS = 4;

    private final FileText text;
    private final Breakage breakage;
    private final Stops stops;
    private volatile long attaches;
    private volatile boolean alters;

    AttachingPatcher(CallPatcher.Work work, FileText text, Breakage breakage) {
        super(work, Cell.Mode.TOGGLE);
        this.text = text;
        this.breakage = breakage;
        stops = work.stops();
    }

    @Override
    void round() {
        text.exclusively(this::attachToggleDetach);
    }

    // One writer.
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void attachToggleDetach() {
        stops.begin();
        stops.step("attach");
        breakage.attach(text);
        for (int i = 0; i < ROUNDS; i++) {
            super.round();
        }
        lookAt(-1);
        stops.begin();
        stops.step("detach");
        text.detach();
        alters |= !text.isOriginal();
        attaches++;
    }

    long attaches() {
        return attaches;
    }

    /// Whether the text was another one after a detach.
    boolean alters() {
        return alters;
    }
}
