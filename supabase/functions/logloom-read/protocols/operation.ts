import { bodyText } from "../body.ts";
import { operations } from "../operations.ts";
import { problem } from "../problem.ts";
import type { Asked, Protocol } from "../protocol.ts";

/** `POST /v1/<operation>`: the reading operations, with the JSON that they take and give as RPC. */
export const operation: Protocol = {
  methods: "POST, OPTIONS",
  async answer({ request, path, reader, callDatabase }: Asked): Promise<Response> {
    const name = path.slice("/v1/".length);
    // A user's token may do more elsewhere, also with functions of the project's own.
    if (!operations.includes(name)) {
      return problem(404, `No such reading operation: ${name}`, {
        name: "reading.operation_is_unknown",
        hint: `What is read by: ${operations.join(", ")}.`,
      });
    }
    if (reader instanceof Response) return reader;
    const parameters = await parametersOf(request);
    if (parameters instanceof Response) return parameters;
    return await callDatabase(reader, name, parameters);
  },
};

/** The JSON text of the parameters. */
export async function parametersOf(request: Request): Promise<string | Response> {
  const text = await bodyText(request);
  if (text instanceof Response) return text;
  if (text === "") return "{}";
  try {
    const parameters: unknown = JSON.parse(text);
    if (typeof parameters === "object" && parameters !== null && !Array.isArray(parameters)) {
      const nested = Object.entries(parameters).find(([, value]) =>
        typeof value === "object" && value !== null
      );
      // No reading operation takes one, and in the database its depth costs.
      return nested === undefined
        ? text
        : problem(400, `Invalid ${nested[0].slice(0, 60)}: no list and no object`, {
          name: "reading.parameter_is_invalid",
        });
    }
  } catch {
    return problem(400, "The body is no JSON", { hint: "Send the parameters as a JSON object." });
  }
  return problem(400, "Invalid parameters: send a JSON object", {
    name: "reading.parameters_are_no_object",
    hint: "{} where there are none.",
  });
}
