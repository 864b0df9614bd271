import type { Reader } from "./caller.ts";
import type { ReadDatabase } from "./database.ts";

/**
 * What is answered to a reader whom the database does not know, or who may not read, and undefined for every other one:
 * for requests that ask the database nothing by themselves, and else would be answered to everybody.
 */
export async function refusalOfReader(
  reader: Reader,
  callDatabase: ReadDatabase,
): Promise<Response | undefined> {
  const answer = await callDatabase(reader, "validate_query", '{"p_query_dsl":"*"}');
  // Whose view does not open this operation is known all the same.
  const isKnown = answer.status === 200 ||
    answer.status === 403 && (await answer.clone().text()).includes("callers.operation_is_outside");
  if (!isKnown) return answer;
  await answer.body?.cancel();
}
