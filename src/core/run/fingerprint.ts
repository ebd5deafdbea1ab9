// The same issues in a row are recognised by a short fingerprint, so that a run's state stays small. Not for security:
// two different lists with one fingerprint would only bring a person in a little early.

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
