package org.mdlagent.arch.code;

/// Address ranges in memory that hold instructions from their first byte on, sorted, disjoint.
public interface CodeRanges {
    int size();

    long start(int index);

    long length(int index);
}
