// The daemon's access to trust in the project's files. The audit log names the version, which the request alone does not.

import { approveProject, lookAtTrust, revokeVersion } from "../../app/trust/trust.ts";
import { ok } from "../../core/result.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import type { Audit } from "./audit.ts";
import type { ServerDeps } from "./deps.ts";

export function openProjectTrust(place: TrustPlace, audit: Audit, now: () => string): NonNullable<ServerDeps["trust"]> {
  return {
    look: () => lookAtTrust(place),
    approve(hash, by) {
      const approved = approveProject(place, { hash, by, now: now() });
      if (approved.ok) record(by, `approved ${hash.slice(0, 16)} of ${place.project}`);
      return approved;
    },
    revoke(hash, by) {
      const revoked = revokeVersion(place, hash);
      if (!revoked.ok) return revoked;
      if (revoked.value.wasApproved) record(by, `revoked ${hash.slice(0, 16)} of ${place.project}`);
      return ok(revoked.value.after);
    },
  };

  function record(who: string, what: string): void {
    audit.record({
      type: "request.made",
      principal: null,
      who,
      from: `process ${process.pid}`,
      what: `trust: ${what}`,
      status: null,
      code: null,
      requestId: null,
    });
  }
}
