// A short fingerprint recognises the same issues in a row and keeps a run's state small. Not for security: if two different lists collide,
// Passrail only asks a person a little early.

export function fingerprint(texts: readonly string[]): string {
  const text = texts
    .map((item) => item.trim().toLowerCase())
    .sort()
    .join("\n");
  return fnv(text, 0x811c9dc5) + fnv(text, 0x01000193);
}

function fnv(text: string, seed: number): string {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
