// The state of a daemon in Prometheus' text format: numbers that an alert or a graph needs, without titles, paths or anything secret.

export type Metric = {
  /** Without the prefix `passrail_`. A name that ends with `_total` only grows. */
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
};

type Sample = { readonly value: number; readonly labels?: Readonly<Record<string, string>> };

export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) => {
      const full = `passrail_${name}`;
      const type = name.endsWith("_total") ? "counter" : "gauge";
      const lines = samples.map(({ value, labels = {} }) => `${full}${labelText(labels)} ${value}`);
      return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines, ""].join("\n");
    })
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Names of runners and machines may come from files; a line must stay a line. */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\r", "");
}
