/** Marks a test that cannot run everywhere. The summary of `npm test` shows the reason if it is skipped. */
export function onlyIf(canRun: boolean, reason: string): { ignore: boolean } {
  if (!canRun) console.log(`not run: ${reason}`);
  return { ignore: !canRun };
}
