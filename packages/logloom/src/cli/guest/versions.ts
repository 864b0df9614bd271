/** Returns the time as the version of a migration, in UTC and to the second. */
export function versionAt(time: Date): string {
  return time.toISOString().replaceAll(/\D/g, "").slice(0, 14);
}

/** Whether a version is a valid time: 20261121235959 is, 20261121235960 is not. */
export function isTime(version: string): boolean {
  const [year, month, day, hour, minute, second] = fieldsOf(version);
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return !Number.isNaN(time.getTime()) && versionAt(time) === version;
}

/**
 * Returns the first time that sorts after a version, also after the version's file name. The time never begins with the
 * version, not even with a short one such as 20261201. Null after the last year.
 */
export function followingVersion(version: string): string | null {
  const [year, month, day, hour, minute, second] = fieldsOf(version.slice(0, 14).padEnd(14, "9"));
  const time = new Date(
    month > 12
      ? Date.UTC(year + 1)
      : month < 1
      ? Date.UTC(year)
      : day > new Date(Date.UTC(year, month, 0)).getUTCDate()
      ? Date.UTC(year, month)
      : day < 1
      ? Date.UTC(year, month - 1)
      : hour > 23
      ? Date.UTC(year, month - 1, day + 1)
      : minute > 59
      ? Date.UTC(year, month - 1, day, hour + 1)
      : Date.UTC(year, month - 1, day, hour, minute, Math.min(second, 59) + 1),
  );
  return time.getUTCFullYear() > 9999 ? null : versionAt(time);
}

function fieldsOf(version: string): number[] {
  const fields = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(version) ?? [];
  return Array.from({ length: 6 }, (_, n) => Number(fields[n + 1]));
}
