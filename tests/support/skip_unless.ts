/** For a test that cannot run everywhere: the summary of `npm test` has the reason where it does not. */
export function onlyIf(canRun: boolean, reason: string): { ignore: boolean } {
  if (!canRun) console.log(`not run: ${reason}`);
  return { ignore: !canRun };
}
