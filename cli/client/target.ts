import { Failure } from "../../local/failure.ts";
import { stackNamed } from "../../local/stack.ts";
import { runningState, type State } from "../../local/state.ts";

/** An environment variable; empty counts as unset. */
export function environment(name: string): string | undefined {
  return Deno.env.get(name) || undefined;
}

/** The address from an option or from LOGLOOM_URL. */
export function namedUrl(option: string | undefined): string | undefined {
  const url = option ?? environment("LOGLOOM_URL");
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new Failure(`${url} is not the address of a project, such as https://….supabase.co.`);
  }
  return url?.replace(/\/+$/, "");
}

/** The running local stack; `credential` names the option that could be used instead. */
export async function localStack(credential: string): Promise<State> {
  const state = await runningState(stackNamed("dev"));
  if (state === null) {
    throw new Failure(
      `no local stack is running: npm start, or name a project by --url and ${credential}.`,
    );
  }
  return state;
}
