// Every stage of a flow with its place in the file and in the sequence of its track. All other checks walk this list.

import type { Flow, Route, Stage, WorkStage } from "../flow/flow.ts";
import type { FlowFile, StageFile } from "../flow/flow-file.ts";
import type { Path } from "./problem.ts";

/** A stage in a sequence: the main one, or that of a track. Templates of a dynamic stage take its place. */
export type StagePlace = {
  readonly stage: Stage;
  readonly path: Path;
  readonly written: Partial<StageFile>;
  /** "" for the main sequence, else the parallel stage and the track: "tracks/be". */
  readonly sequence: string;
  readonly parallel?: string;
  /** For a template: the dynamic stage's id. */
  readonly templateOf?: string;
};

const MAIN_SEQUENCE = "";

export function placesOf(file: FlowFile, flow: Flow): readonly StagePlace[] {
  const resolved = [...flow.stages];
  const places: StagePlace[] = [];
  file.stages.forEach((written, index) => {
    const path: Path = ["stages", index];
    const stage = resolved.shift();
    if (stage === undefined) throw new Error("a stage was lost while the flow was resolved");
    places.push({ stage, path, written, sequence: MAIN_SEQUENCE });
    if (stage.kind === "parallel") places.push(...placesOfTracks(written, stage.id, stage.tracks, path));
    if (stage.kind === "dynamic") {
      for (const [agent, template] of Object.entries(written.templates ?? {})) {
        const work = stage.templates[agent.toLowerCase()];
        if (work === undefined) continue;
        const place = { stage: work, path: [...path, "templates", agent], written: template, sequence: MAIN_SEQUENCE };
        places.push({ ...place, templateOf: stage.id });
      }
    }
    if (stage.kind !== "agent" && stage.kind !== "builtin" && stage.kind !== "router") return;
    (written.then_in_same_workspace ?? []).forEach((followUp, position) => {
      const next = resolved.shift();
      if (next === undefined) throw new Error("a follow-up was lost while the flow was resolved");
      const at: Path = [...path, "then_in_same_workspace", position];
      places.push({ stage: next, path: at, written: followUp, sequence: MAIN_SEQUENCE });
    });
  });
  return places;
}

function placesOfTracks(
  written: StageFile,
  parallel: string,
  tracks: Readonly<Record<string, { readonly stages: readonly WorkStage[] }>>,
  path: Path,
): readonly StagePlace[] {
  return Object.entries(written.tracks ?? {}).flatMap(([track, plan]) =>
    plan.stages.flatMap((inner, position) => {
      const stage = tracks[track]?.stages[position];
      const at: Path = [...path, "tracks", track, "stages", position];
      return stage === undefined
        ? []
        : [{ stage, path: at, written: inner, sequence: `${parallel}/${track}`, parallel }];
    }),
  );
}

/** Stages of one sequence in order, without templates. */
export function sequenceOf(places: readonly StagePlace[], sequence: string): readonly StagePlace[] {
  return places.filter((place) => place.sequence === sequence && place.templateOf === undefined);
}

export type PlacedRoute = { readonly key: string; readonly route: Route; readonly path: Path };

/** The routes of a place, its own and those of `defaults`, each with the place where it is written. */
export function routesOf(place: StagePlace): readonly PlacedRoute[] {
  const { stage, written, path } = place;
  if (stage.kind === "parallel" || stage.kind === "dynamic") return [];
  return Object.entries(stage.route).map(([key, route]) => {
    const own = written.route !== undefined && Object.hasOwn(written.route, key);
    return { key, route, path: own ? [...path, "route", key] : ["defaults", "route", key] };
  });
}

/** All targets of a route, with the place of each: goto, else, and the answers of a choice. */
export function targetsOf({
  route,
  path,
}: PlacedRoute): readonly { readonly target: string; readonly path: Path; readonly isChoice: boolean }[] {
  const choices = Object.entries(route.ask?.choices ?? {});
  return [
    ...(choices.length > 0 ? [] : [{ target: route.goto, path: [...path, "goto"], isChoice: false }]),
    ...(route.else === undefined ? [] : [{ target: route.else, path: [...path, "else"], isChoice: false }]),
    ...choices.map(([answer, target]) => ({ target, path: [...path, "choices", answer], isChoice: true })),
  ];
}
