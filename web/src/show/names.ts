/** What data and engines are called on the page: the same everywhere. */
interface Named {
  name: string;
}

/** The data that comes with Compass, and every engine that learnt from it. */
export const EMBEDDED = "embedded";

/** As a title. */
export function titleOf({ name }: Named): string {
  return name === EMBEDDED ? "Example data: loop kernels" : name;
}

/** Within a sentence. */
export function nameOf({ name }: Named): string {
  return name === EMBEDDED ? "the example data" : name;
}
