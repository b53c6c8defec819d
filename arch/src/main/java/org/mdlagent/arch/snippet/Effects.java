package org.mdlagent.arch.snippet;

import java.util.BitSet;
import java.util.List;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Call;
import org.mdlagent.arch.snippet.Expression.Common;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Expression.Position;
import org.mdlagent.arch.snippet.Expression.Read;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.ReturnAddress;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Discover;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.ForSelected;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Let;
import org.mdlagent.arch.snippet.Statement.Mark;
import org.mdlagent.arch.snippet.Statement.Run;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Stop;
import org.mdlagent.arch.snippet.Statement.Store;

/// The values that statements read and may change.
final class Effects {
    private final BitSet reads = new BitSet();
    private final BitSet writes = new BitSet();
    private boolean needsRoom;

    static Effects of(List<Statement> statements) {
        Effects effects = new Effects();
        effects.add(statements);
        return effects;
    }

    /// Whether there is a [Call] or a [Read], which use much of generated code's scratch space.
    boolean needsRoom() {
        return needsRoom;
    }

    boolean writesAnything() {
        return !writes.isEmpty();
    }

    /// Whether the two commute. Fast if `others` is small.
    boolean commuteWith(Effects others) {
        return !isAnyOf(others.writes, writes) && !isAnyOf(others.writes, reads) && !isAnyOf(others.reads, writes);
    }

    private static boolean isAnyOf(BitSet few, BitSet many) {
        for (int value = few.nextSetBit(0); value >= 0; value = few.nextSetBit(value + 1)) {
            if (many.get(value)) {
                return true;
            }
        }
        return false;
    }

    void add(Effects other) {
        reads.or(other.reads);
        writes.or(other.writes);
    }

    private void add(List<Statement> statements) {
        statements.forEach(this::add);
    }

    private void add(Statement statement) {
        switch (statement) {
            case Store(int value, Expression expression) -> {
                writes.set(value);
                add(expression);
            }
            case Add(int value, Expression amount) -> {
                writes.set(value);
                add(amount);
            }
            case Run run -> addCall();
            case If(Expression condition, List<Statement> body) -> {
                add(condition);
                add(body);
            }
            case Start(int timer, Statement.Clock clock) -> addTimer(timer);
            case Stop(int timer, Statement.Clock clock) -> addTimer(timer);
            case Mark(int value, Member member) -> {
                reads.set(value);
                writes.set(member.set());
            }
            case Let(int slot, Expression expression) -> add(expression);
            case Discover(int table, Expression number) -> {
                writes.set(table, table + Discover.SIZE);
                add(number);
            }
            case ForEach each -> {
                add(each.written());
                for (long rest = each.members(); rest != 0; rest &= rest - 1) {
                    add(each.bodyOf(Long.numberOfTrailingZeros(rest)));
                }
            }
            case ForSelected one -> {
                reads.set(one.selector());
                for (int i = 0; i < one.count(); i++) {
                    add(one.bodyOf(one.lowest() + i));
                }
            }
        }
    }

    private void addTimer(int first) {
        writes.set(first, first + ValueDescriptor.TIMER_SIZE);
    }

    private void add(Expression expression) {
        switch (expression) {
            case Value(int index) -> reads.set(index);
            case Member(int set, int bit) -> reads.set(set);
            case Position position -> add(position.number());
            case Divide(Expression left, Expression right, int errors) -> {
                writes.set(errors);
                add(left);
                add(right);
            }
            case Read(Expression address, int errors) -> {
                writes.set(errors);
                needsRoom = true;
                add(address);
            }
            case Call call -> addCall();
            case Binary binary -> add(binary.left(), binary.right());
            case Compare compare -> add(compare.left(), compare.right());
            case And(Expression left, Expression right) -> add(left, right);
            case Or(Expression left, Expression right) -> add(left, right);
            case Constant constant -> {}
            case Argument argument -> {}
            case Result result -> {}
            case ReturnAddress address -> {}
            case Load load -> {}
            case Common common -> {}
        }
    }

    /// The function's effect is unknown: it may reach other probes.
    private void addCall() {
        reads.set(0, ValueDescriptor.VALUES);
        writes.set(0, ValueDescriptor.VALUES);
        needsRoom = true;
    }

    private void add(Expression left, Expression right) {
        add(left);
        add(right);
    }
}
