package org.mdlagent.runtime.mdl.syntax;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/// Suggests corrections of misspelled words.
public final class Spelling {
    private Spelling() {}

    /// The hint for an unknown word, or null if no known word is close.
    public static @Nullable String hint(String word, Collection<String> known) {
        String nearest = nearest(word, known);
        return nearest == null ? null : "did you mean '" + nearest + "'?";
    }

    /// The known word with the fewest edits, at most one in three letters.
    static @Nullable String nearest(String word, Collection<String> known) {
        String nearest = null;
        int least = Math.max(1, word.length() / 3) + 1;
        for (String candidate : known) {
            if (Math.abs(word.length() - candidate.length()) >= least) {
                continue; // the difference in length is too large
            }
            int edits = word.equalsIgnoreCase(candidate) ? 0 : edits(word, candidate);
            if (edits < least) {
                least = edits;
                nearest = candidate;
            }
        }
        return nearest;
    }

    /// Edit distance (Levenshtein), with swaps of neighbours.
    private static int edits(String from, String to) {
        int[][] edits = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    edits[i][j] = i + j;
                    continue;
                }
                boolean same = from.charAt(i - 1) == to.charAt(j - 1);
                edits[i][j] =
                        Math.min(edits[i - 1][j - 1] + (same ? 0 : 1), 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    edits[i][j] = Math.min(edits[i][j], edits[i - 2][j - 2] + 1);
                }
            }
        }
        return edits[from.length()][to.length()];
    }
}
