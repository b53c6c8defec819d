package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.Pending;
import org.mdlagent.wordpatch.WordPatch.StartResult;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/// A patcher finishes a patch while another, which helped, starts the next one on the same site: no store of the
/// old patch may follow the first store of the next.
@JCStressTest
@Outcome(id = "contended, trap tail2 front2", expect = ACCEPTABLE, desc = "The old patch is still under way.")
@Outcome(
        id = "pending, trap tail2 front2 trap tail3 front3",
        expect = ACCEPTABLE,
        desc = "The old patch is over when the next begins.")
@Outcome(expect = FORBIDDEN, desc = "The two are mixed, or a store is lost or repeated.")
@State
public class LateFinisher {
    private final PatchedCode code = new PatchedCode();
    private final PatchSite site = code.straddler(code.patcher());
    private final Pending patch = PatchedCode.started(code.patcher(), site, PatchedCode.TWO);
    private StartResult next = new PatchResult.Contended();

    @Actor
    public void late() {
        patch.await();
    }

    @Actor
    public void next(LL_Result r) {
        boolean unused = patch.finish();
        next = code.patcher().start(site, PatchedCode.THREE);
        PatchedCode.finish(next);
        r.r1 = PatchedCode.name(next);
    }

    @Arbiter
    public void finish(LL_Result r) {
        PatchedCode.finish(patch);
        PatchedCode.finish(next);
        r.r2 = code.steps();
    }
}
