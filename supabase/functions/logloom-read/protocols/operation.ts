import { bodyText } from "../read_body.ts";
import { operations, operationsOfCustomers } from "../operations.ts";
import { problem } from "../error_answer.ts";
import type { Asked, Protocol } from "../protocol.ts";

/** The deepest nesting in a customer's parameters, such as the config of a log stream. */
const maxDepth = 4;

/** `POST /v1/<operation>`: the reading operations and those of customers, with the same JSON as RPC. */
export const operation: Protocol = {
  methods: "POST, OPTIONS",
  async answer({ request, path, reader, callDatabase }: Asked): Promise<Response> {
    const name = path.slice("/v1/".length);
    // A user's token could otherwise call any function of the project here. The database tells portal tokens from keys.
    const isOfCustomers = operationsOfCustomers.includes(name) &&
      (reader instanceof Response || reader.kind === "api_key");
    if (!isOfCustomers && !operations.includes(name)) {
      return problem(404, `No such reading operation: ${name}`, {
        name: "reading.operation_is_unknown",
        hint: `What is read by: ${operations.join(", ")}.`,
      });
    }
    if (reader instanceof Response) return reader;
    const parameters = await parametersOf(request, isOfCustomers ? maxDepth : 0);
    if (parameters instanceof Response) return parameters;
    return await callDatabase(reader, name, parameters);
  },
};

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 100 &&
    value.every((one) => typeof one === "string");
}

/** Whether a value is nested at most this deep: 0 is a plain value. */
function isShallow(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return most > 0 && Object.values(value).every((member) => isShallow(member, most - 1));
}

/** The JSON text of the parameters. They may be nested `depth` deep; lists of texts are always allowed. */
export async function parametersOf(request: Request, depth = 0): Promise<string | Response> {
  const text = await bodyText(request);
  if (text instanceof Response) return text;
  if (text === "") return "{}";
  try {
    const parameters: unknown = JSON.parse(text);
    if (typeof parameters === "object" && parameters !== null && !Array.isArray(parameters)) {
      const nested = Object.entries(parameters).find(([, value]) =>
        !isShallow(value, depth) && !isListOfTexts(value)
      );
      // No reading operation has a nested parameter, and a deep one would be costly in the database.
      return nested === undefined ? text : problem(
        400,
        `Invalid ${
          nested[0].slice(0, 60)
        }: objects and lists of anything but texts are not allowed`,
        { name: "reading.parameter_is_invalid" },
      );
    }
  } catch {
    return problem(400, "The body is not JSON", { hint: "Send the parameters as a JSON object." });
  }
  return problem(400, "Invalid parameters: send a JSON object", {
    name: "reading.parameters_are_no_object",
    hint: "Send {} if there are none.",
  });
}
