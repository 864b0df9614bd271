/**
 * Names a variable for each secret of a thing, such as SECRET_API_ERRORS_SLACK_URL. The prefix keeps a thing that others
 * named from taking another variable, such as LOGLOOM_TOKEN. Equal names get a number, in the order of the things' names.
 */
export function secretVariables<Thing extends { name: string; fields: { secrets?: unknown } }>(
  things: readonly Thing[],
): Map<Thing, Record<string, string>> {
  const used = new Set<string>();
  const byName = [...things].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return new Map(byName.map((thing) => {
    const secrets = Object.keys(thing.fields.secrets ?? {}).sort().map((secret) => {
      const wanted = `SECRET_${thing.name}_${secret}`.toUpperCase().replace(/[\W_]+/g, "_");
      let variable = wanted;
      for (let n = 2; used.has(variable); n++) variable = `${wanted}_${n}`;
      used.add(variable);
      return [secret, variable];
    });
    return [thing, Object.fromEntries(secrets)];
  }));
}
