/** What the browser remembers as text, by name. One that keeps nothing works until it is closed. */

export interface Shelf {
  get: (name: string) => string | null;
  /** Keep a text; null forgets it. */
  set: (name: string, text: string | null) => void;
}

// Where storage is forbidden, already looking for it throws; where it is full, writing does.
function shelf(place: () => Storage): Shelf {
  return {
    get(name) {
      try {
        return place().getItem(name);
      } catch {
        return null;
      }
    },
    set(name, text) {
      try {
        if (text === null) place().removeItem(name);
        else place().setItem(name, text);
      } catch {
        // not kept, as said above
      }
    },
  };
}

/** For all tabs, until the site's data is deleted. */
export const forGood = shelf(() => localStorage);

/** For this tab, until it is closed. */
export const inTab = shelf(() => sessionStorage);
