package org.mdlagent.arch.x86.emit;

import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Call;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Expression.Position;
import org.mdlagent.arch.snippet.Expression.Read;

/// Resources that an expression needs.
final class ExpressionDemand {
    private ExpressionDemand() {}

    /// Number of registers of the stack that an expression needs (Sethi and Ullman, "The Generation of Optimal
    /// Code for Arithmetic Expressions", 1970).
    static int registers(Expression expression) {
        return switch (expression) {
            case Read read -> SnippetFrame.STACK.size();
            case Call call ->
                call.arguments().stream()
                        .mapToInt(ExpressionDemand::registers)
                        .max()
                        .orElse(1);
            case Binary binary -> registers(binary.left(), binary.right());
            case Divide divide -> registers(divide.left(), divide.right());
            case Compare compare -> registers(compare.left(), compare.right());
            case Position position -> registers(position.number());
            case And(Expression left, Expression right) -> Math.max(registers(left), registers(right));
            case Or(Expression left, Expression right) -> Math.max(registers(left), registers(right));
            default -> 1;
        };
    }

    private static int registers(Expression left, Expression right) {
        int first = registers(left);
        int second = registers(right);
        return first == second ? first + 1 : Math.max(first, second);
    }

    /// Whether it uses all scratch places below the stack pointer.
    static boolean needsRoom(Expression expression) {
        return switch (expression) {
            case Call call -> true;
            case Read read -> true;
            case Binary binary -> needsRoom(binary.left()) || needsRoom(binary.right());
            case Divide divide -> needsRoom(divide.left()) || needsRoom(divide.right());
            case Compare compare -> needsRoom(compare.left()) || needsRoom(compare.right());
            case Position position -> needsRoom(position.number());
            case And(Expression left, Expression right) -> needsRoom(left) || needsRoom(right);
            case Or(Expression left, Expression right) -> needsRoom(left) || needsRoom(right);
            default -> false;
        };
    }
}
