package org.mdlagent.stress.torture;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.Pending;
import org.mdlagent.wordpatch.WordPatch;
import org.mdlagent.wordpatch.WordPatch.StartResult;

/// Patches words of sites by [WordPatch].
final class WordPatcher extends Patcher {
    private static final int OUTSTANDING_MAX = 32;

    private final WordPatch wordPatch;
    private final Cell.Mode mode;
    private final Stops stops;
    private final List<Word> words;
    private final long[] written;
    private final Deque<Outstanding> outstanding = new ArrayDeque<>();

    /// A word of a site.
    ///
    /// @param site   index of the site
    /// @param place  that wordpatch changes
    /// @param change its words
    /// @param split  its split over the boundary of an atomic unit
    record Word(int site, PatchSite place, Subject.Change change, String split) {
        /// Whether it contains one of its two words.
        boolean isWhole() {
            return place.word() == change.first() || place.word() == change.second();
        }
    }

    private record Outstanding(int word, long value, Pending patch) {}

    WordPatcher(long focus, WordPatch wordPatch, Cell.Mode mode, Stops stops, List<Word> words) {
        super(words.stream().map(Word::split).toList(), focus);
        this.wordPatch = wordPatch;
        this.mode = mode;
        this.stops = stops;
        this.words = words;
        written = words.stream().mapToLong(word -> word.place.word()).toArray();
    }

    @Override
    void round() {
        switch (mode) {
            case PATCH -> patchEach();
            case START -> startEach();
            case PATCH_ALL -> patchAll();
            default -> throw new IllegalArgumentException(mode + " is not wordpatch's");
        }
    }

    private void patchEach() {
        for (int i = 0; i < words.size(); i++) {
            Word word = words.get(i);
            lookAt(word.site);
            stops.begin();
            long value = next(i);
            done(i, value, wordPatch.patch(word.place, value));
        }
    }

    private void startEach() {
        for (int i = 0; i < words.size(); i++) {
            Word word = words.get(i);
            lookAt(word.site);
            stops.begin();
            long value = next(i);
            StartResult started = wordPatch.start(word.place, value);
            switch (started) {
                case Pending patch -> outstanding.add(new Outstanding(i, value, patch));
                case PatchResult result -> done(i, value, result);
            }
            while (!outstanding.isEmpty()
                    && (outstanding.size() >= OUTSTANDING_MAX
                            || outstanding.getFirst().patch.finish())) {
                finishFirst();
            }
        }
        finish();
    }

    @Override
    void finish() {
        while (!outstanding.isEmpty()) {
            finishFirst();
        }
    }

    private void finishFirst() {
        Outstanding first = outstanding.removeFirst();
        first.patch.await();
        done(first.word, first.value, new PatchResult.Patched());
    }

    private void patchAll() {
        List<PatchSite> places = new ArrayList<>(words.size());
        long[] values = new long[words.size()];
        for (int i = 0; i < values.length; i++) {
            places.add(words.get(i).place);
            values[i] = next(i);
        }
        stops.begin();
        List<PatchResult> results = wordPatch.patchAll(places, values);
        for (int i = 0; i < values.length; i++) {
            done(i, values[i], results.get(i));
        }
    }

    /// The other of the two words, whoever has written the current one.
    private long next(int i) {
        Word word = words.get(i);
        return word.place.word() == word.change.first() ? word.change.second() : word.change.first();
    }

    private void done(int i, long value, PatchResult result) {
        Word word = words.get(i);
        switch (result) {
            case PatchResult.Patched() -> {
                written[i] = value;
                toggled(i);
            }
            case PatchResult.Contended() -> {
                contended();
                Pending others = word.place.pending();
                if (others != null) {
                    boolean unused = others.finish();
                }
            }
            case PatchResult.Rejected(String reason) -> rejected(reason);
        }
    }

    /// Whether every site contains this patcher's last word, if it was the only patcher.
    boolean isAsWritten() {
        for (int i = 0; i < written.length; i++) {
            if (words.get(i).place.word() != written[i]) {
                return false;
            }
        }
        return true;
    }
}
