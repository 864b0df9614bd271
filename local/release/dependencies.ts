import { checkout } from "../stack.ts";
import { walk } from "../list_files.ts";

/** The allowed licences of dependencies. None of them puts obligations on Logloom's users. */
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

/** Returns the folders with an npm lock file, the root first, without those for tests only. */
export async function lockedFolders(): Promise<string[]> {
  const files = await walk(["console", "local", "packages", "site", "supabase"]);
  return [
    checkout,
    ...files.filter((path) => path.endsWith("/package-lock.json"))
      .map((path) => `${checkout}/${path.slice(0, path.lastIndexOf("/"))}`),
  ];
}

/** Returns the dependencies in a lock file without an allowed licence. */
export function otherLicences({ packages }: LockFile): string[] {
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .filter(([, { license }]) => !isAllowed(license ?? ""))
    .map(([path, { license }]) => `${path}: ${license ?? "no licence"}`);
}

/** Returns whether an SPDX expression is allowed: at least one part between OR, and each part between AND. */
function isAllowed(expression: string): boolean {
  return expression.replace(/[()]/g, "").split(/ or /i).some((choice) =>
    choice.split(/ and /i).every((name) => allowed.has(name.trim()))
  );
}
