// Whether the network of a sandbox on this machine can be entered from outside, which the way to Passrail's services needs.

import { findOnPath } from "../shared/find-on-path.ts";
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
