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
      memory = grown(memory, Math.min(total, capacity), capacity);
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

/** Most programs say little. Megabytes for each of them, even if no page is ever written, make the garbage collector run after every attempt. */
const FIRST_BYTES = 64 * 1024;

/** Room for so many bytes. The ring turns only at its whole capacity, so what is kept until then stays where it is. */
function grown(memory: Buffer | undefined, needed: number, capacity: number): Buffer {
  if (memory !== undefined && memory.length >= needed) return memory;
  const room = Math.max(needed, FIRST_BYTES, (memory?.length ?? 0) * 2);
  const larger = Buffer.allocUnsafeSlow(Math.min(room, capacity));
  memory?.copy(larger);
  return larger;
}

/** UTF-8 text of bytes that may begin in the middle of a character; invalid bytes become U+FFFD. */
export const decodeTail = (bytes: Buffer, whole: boolean): string => {
  let start = 0;
  // A character has at most three continuation bytes (10xxxxxx).
  if (!whole) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
};
