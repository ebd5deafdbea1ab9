// Removes secrets from a stream of bytes. It holds back only a possible beginning of a secret, so that a finished line comes out at once;
// all other bytes pass unchanged.

import { LOOK_BEHIND, marker, type Redaction } from "../../core/secrets/redaction.ts";
import type { StreamRedactor } from "../runner.ts";

export function createStreamRedactor({ scan }: Pick<Redaction, "scan">): StreamRedactor {
  /** Bytes that were emitted and may still be examined, and bytes that are held. */
  let before: Buffer = Buffer.alloc(0);
  let held: Buffer = Buffer.alloc(0);

  const take = (chunk: Uint8Array, final: boolean): Uint8Array => {
    const bytes = Buffer.concat([before, held, chunk]);
    const pieces: Buffer[] = [];
    let done = before.length;
    const until = scan(bytes, before.length, final, ({ start, end, kind }) => {
      pieces.push(bytes.subarray(done, start), Buffer.from(marker(kind)));
      done = end;
    });
    const passes = pieces.length === 0 && held.length === 0 && until === bytes.length;
    // Copies: a few bytes must not keep a whole piece in memory.
    held = Buffer.from(bytes.subarray(until));
    before = Buffer.from(bytes.subarray(Math.max(0, until - LOOK_BEHIND), until));
    if (passes) return chunk;
    const rest = bytes.subarray(done, until);
    return pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]);
  };

  return {
    push: (chunk) => take(chunk, false),
    flush: () => take(new Uint8Array(), true),
  };
}
