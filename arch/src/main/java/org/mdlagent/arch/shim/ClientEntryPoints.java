package org.mdlagent.arch.shim;

/// Continuations of bodies in the shim at sites with clients; `calls.S` documents their registers.
///
/// @param hookEntry     at calls of entry hooks
/// @param hookExit      at calls of exit hooks
/// @param functionEntry for whole functions
/// @param functionExit  for whole functions
/// @param count         for sites that count
/// @param values        for any of these, where snippets run in a thread that has no values yet
/// @param valuesFramed  the same at returns of whole functions
/// @param call          where snippets go that call a function
/// @param callFramed    the same at returns of whole functions
public record ClientEntryPoints(
        long hookEntry,
        long hookExit,
        long functionEntry,
        long functionExit,
        long count,
        long values,
        long valuesFramed,
        long call,
        long callFramed) {}
