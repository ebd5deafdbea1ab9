import { expect, test } from "vitest";
import { imageLinks } from "./image-links.ts";

test("images beside the ticket are found once each; nothing that leads elsewhere is one", () => {
  const text = [
    'See ![the page](shots/page.png) and ![](two%20words.JPG "title"), again ![x](shots/page.png).',
    "![web](https://example.org/a.png) ![data](data:image/png;base64,AAAA) ![root](/etc/a.png) ![home](~/a.png)",
    "![up](../a.png) ![deep](shots/../../a.png) ![win](..\\a.png) ![enc](%2e%2e/a.png) ![no](notes.md) [a link](b.png)",
  ].join("\n");
  expect(imageLinks(text)).toEqual(["shots/page.png", "two words.JPG"]);
  expect(imageLinks(Array.from({ length: 20 }, (_, index) => `![](${index}.png)`).join(" "))).toHaveLength(8);
});
