// Queries about runners, agents and settings.

import { queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";

const AGAIN_MS = 1500;

/** Polls while the daemon is still checking the programs. */
export const runnersQuery = queryOptions({
  queryKey: ["runners"],
  queryFn: ({ signal }) => call("listRunners", {}, { signal }),
  refetchInterval: ({ state }) => (state.data?.checking === true ? AGAIN_MS : false),
});

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: ({ signal }) => call("listAgents", {}, { signal }),
});

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => call("settings", {}, { signal }),
});
