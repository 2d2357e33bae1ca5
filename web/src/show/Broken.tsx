import { Fragment } from "react";

/** A name that may be broken behind _ . / : and -, where eyes expect it. */
export function Broken({ name }: { name: string }) {
  return name.split(/(?<=[_./:-])(?=.)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name stay where they are
    <Fragment key={at}>
      {at > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ));
}
