package org.mdlagent.runtime.mdl.syntax;

/// A name, or a word for a choice.
///
/// @param at offset in the file
public record Name(String text, int at) {
    @Override
    public String toString() {
        return text;
    }
}
