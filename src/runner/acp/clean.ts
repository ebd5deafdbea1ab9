// Removes secrets from text that a program sent in pieces: the redactor of the stream sees each piece alone, so the joined text is checked
// again.

import type { AttemptSpec } from "../runner.ts";

export function cleanerOf(spec: Pick<AttemptSpec, "redactor">): (text: string) => string {
  const { redactor } = spec;
  if (redactor === undefined) return (text) => text;
  return (text) => {
    const one = redactor();
    return Buffer.concat([one.push(Buffer.from(text)), one.flush()]).toString("utf8");
  };
}
