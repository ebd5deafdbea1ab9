import { expect, test } from "vitest";
import { metricsText } from "./metrics.ts";

test("metrics are lines of Prometheus' text format, and a hostile label cannot begin a line of its own", () => {
  const text = metricsText([
    { name: "runs", help: "Runs.", samples: [{ value: 2, labels: { status: 'a"b\\c\nfake 1' } }] },
    { name: "events_total", help: "Events.", samples: [{ value: 7 }] },
    { name: "left_out", help: "Nothing to say.", samples: [] },
  ]);
  expect(text).toBe(
    [
      "# HELP passrail_runs Runs.",
      "# TYPE passrail_runs gauge",
      'passrail_runs{status="a\\"b\\\\c\\nfake 1"} 2',
      "# HELP passrail_events_total Events.",
      "# TYPE passrail_events_total counter",
      "passrail_events_total 7",
      "",
    ].join("\n"),
  );
});
