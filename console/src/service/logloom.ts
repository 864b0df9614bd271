export * from "../../../packages/logloom/src/read.ts";
