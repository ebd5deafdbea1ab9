// The last bytes of a stream in a fixed amount of memory, however many came and however small the pieces were.

export type TailRing = {
  readonly push: (chunk: Uint8Array) => void;
  /** All bytes ever pushed, kept or not. */
  readonly total: () => number;
  /** The kept bytes, oldest first. */
  readonly bytes: () => Buffer;
};

export const createTailRing = (capacity: number): TailRing => {
  let memory: Buffer | undefined;
  let total = 0;
  return {
    push: (chunk) => {
      total += chunk.length;
      if (capacity === 0) return;
      // Allocated with the first byte, and not zeroed: unwritten pages cost nothing.
      memory ??= Buffer.allocUnsafeSlow(capacity);
      const kept = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk;
      const at = (total - kept.length) % capacity;
      const untilEdge = Math.min(kept.length, capacity - at);
      memory.set(kept.subarray(0, untilEdge), at);
      memory.set(kept.subarray(untilEdge), 0);
    },
    total: () => total,
    bytes: () => {
      if (memory === undefined) return Buffer.alloc(0);
      if (total <= capacity) return memory.subarray(0, total);
      const edge = total % capacity;
      return Buffer.concat([memory.subarray(edge), memory.subarray(0, edge)]);
    },
  };
};

/** UTF-8 text of bytes that may begin in the middle of a character; invalid bytes become U+FFFD. */
export const decodeTail = (bytes: Buffer, whole: boolean): string => {
  let start = 0;
  // A character has at most three continuation bytes (10xxxxxx).
  if (!whole) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
};
