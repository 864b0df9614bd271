import { Failure } from "../../local/failure.ts";
import { stackNamed } from "../../local/stack.ts";
import { runningState, type State } from "../../local/state.ts";

/** A variable of the environment; empty is as good as none. */
export function environment(name: string): string | undefined {
  return Deno.env.get(name) || undefined;
}

/** The address that was named by an option or by LOGLOOM_URL. */
export function namedUrl(option: string | undefined): string | undefined {
  const url = option ?? environment("LOGLOOM_URL");
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new Failure(`${url} is not the address of a project, such as https://….supabase.co.`);
  }
  return url?.replace(/\/+$/, "");
}

/** The local stack that runs; `credential` is what else could have been named. */
export async function localStack(credential: string): Promise<State> {
  const state = await runningState(stackNamed("dev"));
  if (state === null) {
    throw new Failure(
      `no local stack is running: npm start, or name a project by --url and ${credential}.`,
    );
  }
  return state;
}
