// `database mirror`: how far the status mirror is, or the SQL of its tables.

import { lookAtMirror } from "../../../app/status-mirror.ts";
import { mirrorText } from "../../../core/view/mirror-text.ts";
import { tableNames } from "../../../mirror/open.ts";
import { tablesSql } from "../../../mirror/tables-sql.ts";
import { loadUserSettings } from "../../../settings/load.ts";
import { statusMirrorOf } from "../../../settings/status-mirror.ts";
import { CliError, EXIT } from "../../errors.ts";
import { withReader } from "../../reader.ts";
import type { Io } from "../../terminal/io.ts";
import { age, printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export async function showMirror(io: Io, wantsSql: boolean): Promise<number> {
  const config = await loadUserSettings({ environment: io.environment, flags: {} });
  if (!config.ok) throw new CliError(config.error.code, config.error.message, config.error.hint);
  if (wantsSql) {
    const settings = config.value.statusMirror ?? statusMirrorOf({ url: "postgres://" });
    if (settings !== null) io.out(tablesSql(tableNames(settings)));
    return EXIT.ok;
  }
  return withReader(io, async (store) => {
    const mirror = store === undefined ? null : await lookAtMirror(io.home, config.value, store);
    if (io.json) printJson(io, { mirror });
    else if (mirror !== null) {
      io.out(plainText(mirrorText(mirror, age)));
      for (const { id, reason, at } of mirror.refused) io.out(plainText(`refused  ${id}, ${age(at)}: ${reason}`));
    } else
      io.out(
        config.value.statusMirror === null
          ? "There is no status mirror. The setting status_mirror names one: docs/databases.md"
          : "Nothing is mirrored yet: there are no runs.",
      );
    return EXIT.ok;
  });
}
