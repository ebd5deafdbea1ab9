// The files of deploy/, as the tests read them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

const ROOT = join(import.meta.dirname, "..", "..");

export const deployFile = (name: string): string => readFileSync(join(ROOT, "deploy", name), "utf8");

export type Compose = {
  readonly services: Readonly<
    Record<string, { readonly command?: readonly string[]; readonly secrets?: readonly string[]; volumes?: string[] }>
  >;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};

export const readCompose = (): Compose => parse(deployFile("compose.yaml")) as Compose;

type Container = {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string }[];
};
export type Workload = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly Container[]; readonly volumes: readonly { name: string }[] };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
};

/** Those of the Kubernetes file that run something. */
export function readWorkloads(): readonly Workload[] {
  const found = parseAllDocuments(deployFile("kubernetes.yaml"));
  const broken = found.flatMap(({ errors }) => errors);
  if (broken.length > 0) throw new Error(broken.map(String).join("\n"));
  return found.map((each) => each.toJS() as Workload).filter(({ kind }) => kind !== "Service");
}
