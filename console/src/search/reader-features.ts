import { createContext, useContext } from "react";

/** Parts of the search that are not available to every reader. */
export interface Features {
  /** Saving and completing saved searches. */
  saved: boolean;
  /** Ways to send the first event, with a new key. */
  senders: boolean;
  /** Links to a record of this page. */
  links: boolean;
  histogram: boolean;
  /** Numbers over time. */
  series: boolean;
  /** The comparison with the range before. */
  changes: boolean;
  /** Groups of similar messages. */
  patterns: boolean;
  fields: boolean;
  live: boolean;
  context: boolean;
  /** How often an error was seen. */
  errors: boolean;
  export: boolean;
  /** The zone in the range menu, where there is no top bar with it. */
  zone: boolean;
}

export const allFeatures: Features = {
  saved: true,
  senders: true,
  links: true,
  histogram: true,
  series: true,
  changes: true,
  patterns: true,
  fields: true,
  live: true,
  context: true,
  errors: true,
  export: true,
  zone: false,
};

/** A viewer cannot save searches or send events. */
export const viewersFeatures: Features = { ...allFeatures, saved: false, senders: false };

export const FeaturesContext = createContext<Features>(allFeatures);

export function useFeatures(): Features {
  return useContext(FeaturesContext);
}
