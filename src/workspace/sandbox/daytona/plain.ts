// Removes terminal escape sequences from output that arrives in chunks: some programs colour everything they print.

const ESC = 0x1b;
const BEL = 0x07;

export function plainStream(): (chunk: Uint8Array) => Uint8Array {
  let state: "text" | "escape" | "control" | "string" | "string-end" = "text";
  return (chunk) => {
    const kept = Buffer.alloc(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (state === "text") {
        if (byte === ESC) state = "escape";
        else kept[length++] = byte;
      } else if (state === "escape") {
        // ESC [ begins a control sequence; ESC ] P X ^ _ begin a string; anything else is a sequence of two bytes.
        if (byte === 0x5b) state = "control";
        else if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(byte)) state = "string";
        else if (byte < 0x20 || byte > 0x2f) state = "text";
      } else if (state === "control") {
        if (byte >= 0x40 && byte <= 0x7e) state = "text";
      } else if (state === "string") {
        if (byte === BEL) state = "text";
        else if (byte === ESC) state = "string-end";
      } else {
        state = byte === 0x5c ? "text" : "string";
      }
    }
    return kept.subarray(0, length);
  };
}
