// When keyword rules choose instead of a router's model: without a usable list, only if the model cannot be reached, or never.

export const ROUTER_FALLBACKS = ["rules", "unreachable", "stop"] as const;
export type RouterFallback = (typeof ROUTER_FALLBACKS)[number];
