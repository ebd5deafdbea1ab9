// Whether the network of a sandbox on this machine can be entered from outside, which the way to Passrail's services needs.

import { err, ok, type Result } from "../../../core/result.ts";
import { findOnPath } from "../shared/find-on-path.ts";
import { unavailable } from "../shared/unavailable.ts";
import type { OwnNetwork } from "../../workspace.ts";

/** `why`: a reason of the kind of sandbox itself. */
export function bridgedNetwork(path: string, why: string | null, platform: string = process.platform): OwnNetwork {
  if (why !== null) return { type: "apart", why };
  if (platform !== "linux") return { type: "apart", why: "its sandbox has another network than this machine" };
  if (findOnPath(path, "nsenter") === undefined)
    return {
      type: "apart",
      why: "its sandbox has a network of its own, and the program nsenter, which enters it, is missing",
    };
  return { type: "bridged" };
}

/** The program that enters a network, absolute: programs beside a sandbox work in its clone, to which a PATH may lead. */
export function entering(path: string, mode: string): Result<string> {
  const nsenter = findOnPath(path, "nsenter");
  return nsenter === undefined
    ? err(unavailable(mode, "the program nsenter was not found on the PATH.", "Install util-linux"))
    : ok(nsenter);
}
