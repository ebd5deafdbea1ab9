/** Why no further loop follows: "the limit of 2 revision loops is reached". */
export function spentText(counter: string, loops: number): string {
  return `the limit of ${loops} ${counter} ${loops === 1 ? "loop" : "loops"} is reached`;
}
