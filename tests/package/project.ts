import { command } from "../../local/run_command.ts";
import { removeIfThere } from "../../local/files.ts";
import { packages } from "../../local/npm_package.ts";
import { checkout } from "../../local/stack.ts";

/** A project with nothing but the packed package, installed from its tarball. */
export const project = `${checkout}/.logloom/package`;

/** Libraries that applications use together with the package. */
const beside = ["express", "hono", "pino", "pino-9", "winston", "winston-transport"];

export async function makeProject(tarball: string): Promise<void> {
  await removeIfThere(project);
  await Deno.mkdir(project, { recursive: true });
  await Deno.writeTextFile(`${project}/package.json`, '{ "private": true, "type": "module" }\n');
  // The package has no other dependencies, so this works without a network.
  await command(["npm", "install", "--ignore-scripts", "--offline", "--no-audit", tarball], {
    cwd: project,
    failure: "Installing the packed package failed",
  });
}

/** Gives the project the libraries that its programs log with. */
export async function addLibraries(): Promise<void> {
  for (const name of beside) {
    await Deno.symlink(`${packages}/node_modules/${name}`, `${project}/node_modules/${name}`);
  }
  for (const name of ["react", "react-dom", "scheduler"]) {
    await Deno.symlink(
      `${checkout}/console/node_modules/${name}`,
      `${project}/node_modules/${name}`,
    );
  }
  await Deno.mkdir(`${project}/node_modules/@supabase`);
  await Deno.symlink(
    `${checkout}/node_modules/@supabase/supabase-js`,
    `${project}/node_modules/@supabase/supabase-js`,
  );
}
