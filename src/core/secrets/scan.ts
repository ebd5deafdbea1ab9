// How secrets are looked for in bytes, also in a stream that arrives in chunks.

/**
 * Reports every secret that begins at `from` or later, in order. Returns the offset from which it needs more bytes to decide, or the end if
 * nothing is open or `final` is set. All found secrets are before it. Bytes before `from` are only context.
 */
export type Scan = (bytes: Uint8Array, from: number, final: boolean, onFound: (found: FoundSecret) => void) => number;

export type FoundSecret = { readonly start: number; readonly end: number; readonly kind: string };
