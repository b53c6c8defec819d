package org.mdlagent.arch.elf;

/// The common part of descriptions (CIE).
final class Cie {
    final long codeAlignment;
    final long dataAlignment;

    /// Whether augmentation data, with a length, precede the instructions of a description.
    final boolean augmented;

    final int pointerEncoding;

    /// Encoding of the address of language-specific data; [EhFrame#OMITTED] if there are none.
    final int dataEncoding;

    /// Address of the personality routine, or, if it is indirect, of the word that holds its address; 0 for
    /// none.
    final long personality;

    final boolean personalityIsIndirect;

    final boolean signalFrame;
    final boolean known;

    /// The initial state of every description.
    final CfaProgram initial;

    Cie(Cursor body, PointerEncoding.Bases bases) throws ElfFormatException {
        int version = body.u8();
        if (version != 1 && version != 3) {
            throw body.bad("version 1 or 3 of a common information entry");
        }
        Cursor augmentation = body.copy();
        boolean plain = body.skipString();
        this.codeAlignment = body.uleb();
        this.dataAlignment = body.sleb();
        if (version == 1) {
            body.u8();
        } else {
            body.uleb();
        }
        int encoding = PointerEncoding.ABSOLUTE;
        int ownDataEncoding = EhFrame.OMITTED;
        long routine = 0;
        boolean isIndirect = false;
        boolean understood = true;
        boolean signals = false;
        this.augmented = !plain && augmentation.u8() == 'z';
        if (augmented) {
            Cursor data = body.take(body.uleb());
            int letter;
            while (understood && (letter = augmentation.u8()) != 0) {
                if (letter == 'R') {
                    encoding = data.u8();
                } else if (letter == 'P') {
                    int routineEncoding = data.u8();
                    isIndirect = PointerEncoding.isIndirect(routineEncoding);
                    routine = PointerEncoding.readPlace(routineEncoding, data, bases);
                } else if (letter == 'L') {
                    ownDataEncoding = data.u8();
                } else {
                    signals |= letter == 'S';
                    understood = letter == 'S' || letter == 'B';
                }
            }
        } else {
            understood = plain;
        }
        this.pointerEncoding = encoding;
        this.dataEncoding = ownDataEncoding;
        this.personality = routine;
        this.personalityIsIndirect = isIndirect;
        this.signalFrame = signals;
        this.known = understood;
        this.initial = new CfaProgram(this, body, bases);
    }
}
