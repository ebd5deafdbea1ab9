import { colourLines } from "./colour-lines.ts";

export type ToColour = { readonly id: number; readonly path: string; readonly texts: readonly (readonly string[])[] };
/** Null: without colours. */
export type Coloured = { readonly id: number; readonly texts: readonly (readonly (readonly number[])[])[] | null };

addEventListener("message", ({ data }: MessageEvent<ToColour>) => void answer(data));

async function answer({ id, path, texts }: ToColour): Promise<void> {
  const told = (coloured: Coloured["texts"]): void => postMessage({ id, texts: coloured } satisfies Coloured);
  try {
    const found = [];
    for (const lines of texts) {
      const coloured = await colourLines(path, lines);
      if (coloured === undefined) return told(null);
      found.push(coloured);
    }
    told(found);
  } catch {
    // Without colours a diff is still a diff.
    told(null);
  }
}
