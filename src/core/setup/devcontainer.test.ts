import { expect, test } from "vitest";
import { devcontainerImage } from "./devcontainer.ts";

test("the image is found between comments, escapes and trailing commas", () => {
  const text = `// a // comment
{
  "name": "a \\"quoted\\" // name, }", /* "image": "no:1" */
  "image": "docker.io/library/node:24", // the one
  "features": [1, 2, ],
}`;
  expect(devcontainerImage(text)).toEqual({ ok: true, value: "docker.io/library/node:24" });
});

test.each([
  ['{"build": {"dockerfile": "Dockerfile"}}', "names no image"],
  ['{"image": "--privileged"}', "no usable name"],
  ['{"image": 7}', "names no image"],
  ['{"image": "a', "cannot be read"],
  ['/* "image": "a:1"', "cannot be read"],
  ["[]", "names no image"],
  ["", "cannot be read"],
])("%s is refused", (text, why) => {
  expect(devcontainerImage(text)).toMatchObject({ ok: false, error: { message: expect.stringContaining(why) } });
});
