// Search in an attempt's files. It reads in pieces, so that a large file does not hold up other requests.

import { ROUTES } from "../../contract/routes.ts";
import { err, ok } from "../../../core/result.ts";
import { findFile } from "../attempt-file.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { searchLines } from "../search-lines.ts";

export function mountLogs(mount: MountRoute, deps: ServerDeps): void {
  const { store, home } = deps;
  mount.json(ROUTES.searchFile, async ({ params, query: { q, limit, after } }) => {
    const found = await findFile(store, home, params);
    if (!found.ok) return found;
    const { handle, size } = found.value;
    try {
      const [offset = 0, line = 0] = after.split("-").map(Number);
      if (offset > size)
        return err({ code: "invalid_cursor", detail: `after: the file has ${size} bytes.`, pointer: "after" });
      const { lines, next } = await searchLines(handle, { text: q, offset, line, limit });
      return ok({ file: params.file, size, lines: [...lines], next });
    } finally {
      await handle.close();
    }
  });
}
