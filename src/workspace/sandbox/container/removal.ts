// How a container is removed at once.

import { basename } from "node:path";

/** Docker kills; podman would ask first, and wait ten seconds for a program that does not listen. */
export function removal(client: string): readonly string[] {
  return basename(client) === "podman" ? ["rm", "--force", "--time=0"] : ["rm", "--force"];
}
