import { defineViewer } from "./viewer/element.ts";

export { defineViewer, LogloomViewer } from "./viewer/element.ts";
export type { GetToken, QueryChanged, ViewerFailure, ViewerToken } from "./viewer/element.ts";

defineViewer();
