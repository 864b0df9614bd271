import type { Reader } from "./reader.ts";
import type { ReadDatabase } from "./database.ts";

/**
 * Returns the refusal of a reader who is unknown to the database or may not read; undefined for all other readers.
 * Requests that need nothing from the database use it. Without this check anybody would get an answer to them.
 */
export async function refusalOfReader(
  reader: Reader,
  callDatabase: ReadDatabase,
): Promise<Response | undefined> {
  const answer = await callDatabase(reader, "validate_query", '{"p_query_dsl":"*"}');
  // A reader is also known if the view does not allow this one operation.
  const isKnown = answer.status === 200 ||
    answer.status === 403 && (await answer.clone().text()).includes("callers.operation_is_outside");
  if (!isKnown) return answer;
  await answer.body?.cancel();
}
