// The token of an attempt that works on another machine, as its node keeps it over a restart: good to recognise it, and of no use to others.

import { createHash } from "node:crypto";

export function hashedToken(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}
