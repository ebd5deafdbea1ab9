// The colour that somebody sees, whatever notation the style sheet uses.

import type { Locator } from "playwright-core";

export type Colour = { readonly red: number; readonly green: number; readonly blue: number };

/** Of an element's text. */
export async function colourOf(element: Locator): Promise<Colour> {
  return element.evaluate((each) => {
    const page = globalThis as unknown as Page;
    const canvas = page.document.createElement("canvas").getContext("2d");
    canvas.fillStyle = page.getComputedStyle(each).color;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return { red, green, blue };
  });
}

/** As much of a page as is needed here; tests are not compiled for a browser. */
type Page = {
  readonly document: { createElement(name: "canvas"): { getContext(kind: "2d"): Canvas } };
  getComputedStyle(element: unknown): { readonly color: string };
};
type Canvas = {
  fillStyle: string;
  fillRect(x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Iterable<number> };
};
