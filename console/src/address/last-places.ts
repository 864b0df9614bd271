import { createContext, useContext, useEffect } from "react";
import { type Address, type Screen, useAddress } from "./address.ts";

/** The last address of each screen. */
export class Places {
  #parameters = new Map<Screen, Address["parameters"]>();

  note({ screen, parameters }: Address): void {
    this.#parameters.set(screen, parameters);
  }

  last(screen: Screen): Address {
    return { screen, parameters: this.#parameters.get(screen) ?? {} };
  }
}

export const PlacesContext = createContext<Places | null>(null);

export function usePlaces(): Places {
  const places = useContext(PlacesContext);
  if (!places) throw new Error("there are no places above this component");
  return places;
}

/** Remembers the current address of the screen. */
export function useNotedPlaces(): void {
  const places = usePlaces();
  const address = useAddress();
  useEffect(() => places.note(address), [places, address]);
}
