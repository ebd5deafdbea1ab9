// Writes one key of a ticket over and over, each time one more than what it reads.

import { join } from "node:path";
import { replaceFile } from "../../src/tickets/replace-file.ts";
import { rewriteFrontMatter } from "../../src/tickets/rewrite.ts";

const [root = "", key = "", times = "1"] = process.argv.slice(2);
const file = join(root, "feature_requests/FR-1/AGI-1.md");
for (let round = 0; round < Number(times); round++) {
  const done = await replaceFile(file, ({ text }) => {
    const now = Number(new RegExp(`^${key}: ([0-9]+)$`, "mu").exec(text)?.[1] ?? 0);
    return rewriteFrontMatter(text, { [key]: now + 1 });
  });
  if (!done.ok) throw new Error(done.error.message);
}
