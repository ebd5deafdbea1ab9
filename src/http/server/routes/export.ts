// A run as a file, for another machine. It is written aside first: a part of a run is never sent as a whole.

import { createReadStream } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { exportRun } from "../../../app/transfer/export-run.ts";
import { ROUTES } from "../../contract/routes.ts";
import { problem } from "../answer-problem.ts";
import type { ServerDeps } from "../deps.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";

export function mountExport(mount: MountRoute, { store, home, redact, version, now }: ServerDeps): void {
  mount.response(ROUTES.exportRun, async ({ params }, context) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return problem(context, found.error);
    const folder = await mkdtemp(join(tmpdir(), "passrail-export-"));
    const remove = (): void => void rm(folder, { recursive: true, force: true });
    try {
      const file = join(folder, "run");
      const site = { home: await realpath(home), store, redact, version, now };
      const exported = await exportRun(site, found.value, file);
      if (!exported.ok) {
        remove();
        return problem(context, { code: "export_refused", detail: exported.error.message });
      }
      const stream = createReadStream(file);
      stream.once("close", remove);
      return new Response(Readable.toWeb(stream) as ReadableStream, {
        headers: {
          "content-type": "application/octet-stream",
          "content-length": String(exported.value.bytes),
          "content-disposition": `attachment; filename="${exported.value.run}.passrail-run"`,
        },
      });
    } catch (error) {
      remove();
      throw error;
    }
  });
}
