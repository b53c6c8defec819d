package org.mdlagent.runtime.mdl.syntax;

/// Binary operators. Later ones have higher precedence; all are left-associative.
public enum Operator {
    OR("||", 1),
    AND("&&", 2),
    EQUAL("==", 3),
    NOT_EQUAL("!=", 3),
    LESS("<", 4),
    LESS_EQUAL("<=", 4),
    GREATER(">", 4),
    GREATER_EQUAL(">=", 4),
    ADD("+", 5),
    SUBTRACT("-", 5),
    MULTIPLY("*", 6),
    DIVIDE("/", 6);

    private final String spelling;
    private final int strength;

    Operator(String spelling, int strength) {
        this.spelling = spelling;
        this.strength = strength;
    }

    public String spelling() {
        return spelling;
    }

    int strength() {
        return strength;
    }

    /// Whether it short-circuits.
    public boolean isLogical() {
        return this == OR || this == AND;
    }

    /// Whether it compares and yields 0 or 1.
    public boolean compares() {
        return strength == EQUAL.strength || strength == LESS.strength;
    }

    /// The value for integers. They wrap around; a division by zero yields 0.
    public long apply(long left, long right) {
        return switch (this) {
            case OR -> left != 0 || right != 0 ? 1 : 0;
            case AND -> left != 0 && right != 0 ? 1 : 0;
            case ADD -> left + right;
            case SUBTRACT -> left - right;
            case MULTIPLY -> left * right;
            case DIVIDE -> right == 0 ? 0 : left / right;
            default -> holds(Long.compare(left, right)) ? 1 : 0;
        };
    }

    /// The value for decimal numbers; a division by zero yields 0.
    public double apply(double left, double right) {
        return switch (this) {
            case OR -> left != 0 || right != 0 ? 1 : 0;
            case AND -> left != 0 && right != 0 ? 1 : 0;
            case ADD -> left + right;
            case SUBTRACT -> left - right;
            case MULTIPLY -> left * right;
            case DIVIDE -> right == 0 ? 0 : left / right;
            default -> holds(Double.compare(left, right)) ? 1 : 0;
        };
    }

    /// @param order negative, zero or positive, as the left operand compares to the right one
    private boolean holds(int order) {
        return switch (this) {
            case EQUAL -> order == 0;
            case NOT_EQUAL -> order != 0;
            case LESS -> order < 0;
            case LESS_EQUAL -> order <= 0;
            case GREATER -> order > 0;
            default -> order >= 0;
        };
    }
}
