import { checkout } from "../stack.ts";
import { walk } from "../list_files.ts";

/** What we link to or run may have these licences: none of them asks anything of who uses Logloom. */
const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "Unlicense",
]);

interface LockFile {
  packages: Record<string, { license?: string; link?: boolean }>;
}

/** The folders with a lock file of npm, the root first; without programs that only tests run. */
export async function lockedFolders(): Promise<string[]> {
  const files = await walk(["console", "local", "packages", "site", "supabase"]);
  return [
    checkout,
    ...files.filter((path) => path.endsWith("/package-lock.json"))
      .map((path) => `${checkout}/${path.slice(0, path.lastIndexOf("/"))}`),
  ];
}

/** Dependencies of a lock file whose licence is none of the allowed ones. */
export function otherLicences({ packages }: LockFile): string[] {
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .filter(([, { license }]) => !isAllowed(license ?? ""))
    .map(([path, { license }]) => `${path}: ${license ?? "no licence"}`);
}

/** An expression of SPDX: of what stands between OR one must be allowed, of what stands between AND each. */
function isAllowed(expression: string): boolean {
  return expression.replace(/[()]/g, "").split(/ or /i).some((choice) =>
    choice.split(/ and /i).every((name) => allowed.has(name.trim()))
  );
}
